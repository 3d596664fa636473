// SPDX-License-Identifier: Apache-2.0
#pragma once

// One number for everything that happened in a run, in its order. Made of kinds, serial numbers and
// times; of no address, hash or text, so that it is the same on every machine.

#include <cstdint>

namespace fermata::sim::detail {

class TraceHash {
 public:
  void add(std::uint64_t kind, std::uint64_t subject, std::uint64_t detail) noexcept {
    const std::uint64_t item = ((subject << 8) ^ kind) + detail * 0x9e3779b97f4a7c15;
    state_ = (((state_ << 29) | (state_ >> 35)) ^ item) * 0xbf58476d1ce4e5b9;
  }

  [[nodiscard]] std::uint64_t value() const noexcept { return state_ ^ (state_ >> 31); }
  void reset() noexcept { *this = TraceHash(); }

 private:
  std::uint64_t state_ = 0x6665726d61746121;
};

}  // namespace fermata::sim::detail
