// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "fermata/sim/posix/description.hpp"

namespace fermata::sim::detail {

/// An eventfd(2).
class EventCounter final : public Description {
 public:
  /// `as_semaphore`: each read takes one.
  EventCounter(Machine& machine, std::uint64_t serial, unsigned count, bool as_semaphore) noexcept;

  [[nodiscard]] std::string maker() override { return "whoever writes to it"; }
  [[nodiscard]] ssize_t read(std::span<const iovec> target) override;
  [[nodiscard]] ssize_t write(std::span<const iovec> source) override;
  [[nodiscard]] Readiness readiness() override;

 private:
  static constexpr std::uint64_t kMost = UINT64_MAX - 1;

  /// One piece is one number.
  [[nodiscard]] ssize_t add(const iovec& number);

  std::uint64_t count_;
  bool as_semaphore_;
};

}  // namespace fermata::sim::detail
