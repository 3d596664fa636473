// SPDX-License-Identifier: Apache-2.0
#include "fermata/context/context.hpp"

#include <cxxabi.h>
#include <pthread.h>

#include <cerrno>

#include "fermata/context/instrumentation.hpp"
#include "fermata/context/stack_fault.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::detail {

namespace {

struct Bounds {
  std::byte* low = nullptr;
  std::byte* high = nullptr;

  [[nodiscard]] bool hold(const std::byte* address) const noexcept {
    return low <= address && address < high;
  }
};

Bounds ask_thread_bounds() noexcept {
  pthread_attr_t attributes;
  if (os::kernel.pthread_getattr_np(os::kernel.pthread_self(), &attributes) != 0) return {};
  void* low = nullptr;
  std::size_t bytes = 0;
  ::pthread_attr_getstack(&attributes, &low, &bytes);
  ::pthread_attr_destroy(&attributes);
  return {static_cast<std::byte*>(low), static_cast<std::byte*>(low) + bytes};
}

Bounds bounds_around(const std::byte* address) noexcept {
  if (const StackContext* running = running_context_around(address)) {
    return {running->stack_low, running->stack_high};
  }
  // Kept, because for the main thread glibc reads all of /proc/self/maps.
  static thread_local const Bounds thread_bounds = ask_thread_bounds();
  return thread_bounds.hold(address) ? thread_bounds : Bounds{};
}

}  // namespace

void adopt_thread_stack(StackContext& context) {
  const Bounds bounds = bounds_around(static_cast<const std::byte*>(__builtin_frame_address(0)));
  context.stack_low = bounds.low;
  context.stack_high = bounds.high;
  context.thread.exceptions = reinterpret_cast<ExceptionGlobals*>(abi::__cxa_get_globals());
  context.thread.error_number = &errno;
  context.thread.float_state = float_state();
  raise_status_flags(context.thread.float_state);
  set_float_state(context.thread.float_state);
  note_adoption(context);
}

void drop_thread_stack(StackContext& context) noexcept { context = StackContext{}; }

}  // namespace fermata::detail
