// SPDX-License-Identifier: Apache-2.0
#pragma once

// What AddressSanitizer and ThreadSanitizer must be told of switches. Without them, nothing.

#include <cstddef>

#include "fermata/base/sanitizer.hpp"
#include "fermata/context/context.hpp"

#if defined(__SANITIZE_THREAD__)
#define FERMATA_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FERMATA_TSAN 1
#endif
#endif

#if defined(FERMATA_ASAN)
#include <sanitizer/common_interface_defs.h>
#elif defined(FERMATA_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

namespace fermata::detail {

/// Just before the jump away from `from`, which will be resumed.
[[gnu::always_inline]] inline void note_departure([[maybe_unused]] StackContext& from,
                                                  [[maybe_unused]] StackContext& to) noexcept {
#if defined(FERMATA_ASAN)
  __sanitizer_start_switch_fiber(&from.instrumentation, to.stack_low,
                                 static_cast<std::size_t>(to.stack_high - to.stack_low));
#elif defined(FERMATA_TSAN)
  __tsan_switch_to_fiber(to.instrumentation, 0);
#endif
}

/// Just before the jump away from a context that never resumes.
[[gnu::always_inline]] inline void note_last_departure([[maybe_unused]] StackContext& to) noexcept {
#if defined(FERMATA_ASAN)
  __sanitizer_start_switch_fiber(nullptr, to.stack_low,
                                 static_cast<std::size_t>(to.stack_high - to.stack_low));
#elif defined(FERMATA_TSAN)
  __tsan_switch_to_fiber(to.instrumentation, 0);
#endif
}

/// Just after the jump. ASan knows the bounds of the stack left; an adopted one may not yet.
[[gnu::always_inline]] inline void note_arrival([[maybe_unused]] StackContext& self) noexcept {
#if defined(FERMATA_ASAN)
  const void* low = nullptr;
  std::size_t size = 0;
  __sanitizer_finish_switch_fiber(self.instrumentation, &low, &size);
  self.instrumentation = nullptr;
  StackContext& left = *self.resumer;
  if (left.stack_low == nullptr) {
    left.stack_low = static_cast<std::byte*>(const_cast<void*>(low));
    left.stack_high = left.stack_low + size;
  }
#endif
}

/// Before a context starts a new life on a stack that an earlier one left forever.
inline void note_rebirth(StackContext& context) noexcept {
  FERMATA_UNPOISON(context.stack_low,
                   static_cast<std::size_t>(context.stack_high - context.stack_low));
#if defined(FERMATA_TSAN)
  // A fiber cannot be destroyed by itself when it leaves, and its shadow call stack would grow from
  // life to life.
  if (context.instrumentation != nullptr) __tsan_destroy_fiber(context.instrumentation);
  context.instrumentation = __tsan_create_fiber(0);
#else
  context.instrumentation = nullptr;
#endif
}

/// Before the context's memory goes.
inline void note_death(StackContext& context) noexcept {
  FERMATA_UNPOISON(context.stack_low,
                   static_cast<std::size_t>(context.stack_high - context.stack_low));
#if defined(FERMATA_TSAN)
  if (context.instrumentation != nullptr) __tsan_destroy_fiber(context.instrumentation);
#endif
  context.instrumentation = nullptr;
}

/// `context` begins to stand for the stack that runs now.
inline void note_adoption([[maybe_unused]] StackContext& context) noexcept {
#if defined(FERMATA_TSAN)
  context.instrumentation = __tsan_get_current_fiber();
#endif
}

}  // namespace fermata::detail
