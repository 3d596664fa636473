// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace fermata::detail {

/// A hash of everything that happened in a run, in order. Made from kinds, serial numbers and
/// times, and from no address, hash or text, so that it is equal on every machine.
class TraceHash {
 public:
  void add(std::uint64_t kind, std::uint64_t subject, std::uint64_t detail) noexcept {
    const std::uint64_t item = ((subject << 8) ^ kind) + detail * 0x9e3779b97f4a7c15;
    state_ = (((state_ << 29) | (state_ >> 35)) ^ item) * 0xbf58476d1ce4e5b9;
  }

  [[nodiscard]] std::uint64_t value() const noexcept { return state_ ^ (state_ >> 31); }
  void reset() noexcept { *this = TraceHash(); }

  /// Nothing that still happens is traced.
  void stop() noexcept { stopped_ = true; }
  [[nodiscard]] bool is_stopped() const noexcept { return stopped_; }

 private:
  std::uint64_t state_ = 0x6665726d61746121;
  bool stopped_ = false;
};

}  // namespace fermata::detail
