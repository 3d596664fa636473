// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ctime>

#include "fermata/base/assert.hpp"
#include "fermata/posix/kernel.hpp"
#include "fermata/posix/served/real.hpp"
#include "fermata/posix/threads.hpp"

namespace fermata::posix {

/// Who serves a call of a function for threads from there, which is noted; null: the C library.
[[nodiscard]] inline Threads* threads_for(const void* from) noexcept {
  if (__builtin_expect(serving == nullptr, 1)) return nullptr;
  FERMATA_ASSERT(from != nullptr);
  caller = from;
  return serving->threads();
}

/// Who serves locks and values of threads; null also for the compiler's libraries, which get real
/// ones.
[[nodiscard]] inline Threads* locks_for(const void* from) noexcept {
  FERMATA_ASSERT(from != nullptr);
  if (__builtin_expect(serving == nullptr, 1)) return nullptr;
  caller = from;
  return detail::is_compilers(from) ? nullptr : serving->threads();
}

/// Whether a time can be waited until.
[[nodiscard]] inline bool is_time(const timespec& time) noexcept {
  constexpr long kBillion = 1'000'000'000;
  return time.tv_nsec >= 0 && time.tv_nsec < kBillion;
}

}  // namespace fermata::posix
