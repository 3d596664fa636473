// SPDX-License-Identifier: Apache-2.0
#pragma once

// The longest times to wait as functions of C spell them.

#include <sys/time.h>

#include <chrono>
#include <ctime>

#include "fermata/posix/kernel.hpp"

namespace fermata::posix {

[[nodiscard]] inline Limit limit_of_milliseconds(int milliseconds) noexcept {
  if (milliseconds < 0) return std::nullopt;
  return std::chrono::milliseconds(milliseconds);
}

// Longer than this is forever, as nanoseconds could not tell.
inline constexpr time_t kForever = 1'000'000'000;

/// Null: forever.
[[nodiscard]] inline Limit limit_of(const timespec* time) noexcept {
  if (time == nullptr || time->tv_sec > kForever) return std::nullopt;
  return std::chrono::seconds(time->tv_sec) + std::chrono::nanoseconds(time->tv_nsec);
}

/// Null: forever.
[[nodiscard]] inline Limit limit_of(const timeval* time) noexcept {
  if (time == nullptr || time->tv_sec > kForever) return std::nullopt;
  return std::chrono::seconds(time->tv_sec) + std::chrono::microseconds(time->tv_usec);
}

[[nodiscard]] inline bool is_valid(const timespec& time) noexcept {
  constexpr long kBillion = 1'000'000'000;
  return time.tv_sec >= 0 && time.tv_nsec >= 0 && time.tv_nsec < kBillion;
}

}  // namespace fermata::posix
