// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/aio_abi.h>

#include <array>
#include <cstddef>
#include <deque>
#include <span>
#include <string>

#include "fermata/sim/posix/description.hpp"

namespace fermata::sim::detail {

/// What io_setup() makes: calls are put into it, and their results are fetched from it later.
/// Waiting  EPOLLIN: there is a result, or none will come. EPOLLOUT: no call is going on.
class FileQueue final : public Description {
 public:
  /// It has `most` calls at a time at most, results that nobody has fetched included.
  FileQueue(Machine& machine, std::uint64_t serial, unsigned most)
      : Description(machine, "asynchronous context", serial), most_(most) {}

  [[nodiscard]] std::string maker() override { return "the disk"; }
  [[nodiscard]] Readiness readiness() override;

  /// The address of memory that is zero: libaio looks there for a ring of results.
  [[nodiscard]] aio_context_t number() const noexcept {
    return reinterpret_cast<aio_context_t>(ring_.data());
  }
  [[nodiscard]] unsigned most() const noexcept { return most_; }
  [[nodiscard]] bool is_full() const noexcept { return going_on_ + results_.size() >= most_; }
  [[nodiscard]] bool is_closed() const noexcept { return closed_; }

  /// A call begins.
  void begin() noexcept;
  /// One has ended.
  void end(const io_event& result);
  /// Moves results to `room`, the oldest first; returns how many.
  [[nodiscard]] std::size_t fetch(std::span<io_event> room);
  /// No more results come, which those who wait are told.
  void close();

 private:
  unsigned most_;
  std::size_t going_on_ = 0;
  bool closed_ = false;
  std::deque<io_event> results_;
  alignas(64) std::array<std::byte, 64> ring_{};
};

}  // namespace fermata::sim::detail
