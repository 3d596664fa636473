// SPDX-License-Identifier: Apache-2.0
#pragma once

// A context: a stack with registers, and what the compiler's runtime keeps for each such flow.
//
// Ownership     A pooled context lies at the top of its own stack and belongs to its ContextPool;
//               a context for a thread's own stack lies wherever its owner put it.
// Thread        A context runs on one thread only, the one that first switches to it.
// Overview      context_pool.hpp makes contexts, switch.hpp runs them, stack_fault.hpp reports the
//               overflow of one.

#include <cstddef>
#include <cstdint>

#include "fermata/context/float_state.hpp"

namespace fermata {

/// How the page range below a stack is protected, so that an overflow faults instead of corrupting.
enum class Guards : std::uint8_t {
  Automatic,  ///< Madvise where the kernel has it, else Mprotect.
  Madvise,    ///< MADV_GUARD_INSTALL (Linux 6.13): costs no mapping, so any number of stacks.
  Mprotect,   ///< Two mappings a stack: vm.max_map_count caps a process near 32,000 stacks.
  Off,        ///< An overflow runs into the next stack, undetected.
};

struct StackOptions {
  /// Usable bytes of each stack, rounded up to pages; memory is taken page by page when touched.
  std::size_t stack_bytes = 256 * 1024;
  Guards guards = Guards::Automatic;
};

}  // namespace fermata

namespace fermata::detail {

struct Slab;

/// The C++ exception globals and errno of a context while it does not run. Without them two
/// coroutines that suspend inside a `catch` and then `throw;` would get each other's exception.
struct Ambient {
  void* caught_exceptions = nullptr;
  unsigned uncaught_exceptions = 0;
  int error_number = 0;
};

/// `__cxa_eh_globals` of the Itanium C++ ABI, which the ABI's header leaves opaque.
struct [[gnu::may_alias]] ExceptionGlobals {
  void* caught_exceptions;
  unsigned uncaught_exceptions;
};

/// Where the running thread keeps what an Ambient saves, looked up once for each thread stack, and
/// the floating-point state with which contexts begin.
struct ThreadState {
  ExceptionGlobals* exceptions = nullptr;
  int* error_number = nullptr;
  FloatState float_state;
};

/// Wider than a page, so that the frame of a function with a small buffer does not step over it.
constexpr std::size_t kGuardBytes = 16 * 1024;

/// The first cache line is all that a switch touches.
struct alignas(64) StackContext {
  void* registers = nullptr;        ///< The suspended stack pointer; meaningless while it runs.
  StackContext* resumer = nullptr;  ///< Who switched here last.
  Ambient ambient;
  ThreadState thread;
  void* instrumentation = nullptr;  ///< ASan's fake stack or TSan's fiber.

  std::byte* stack_low = nullptr;   ///< Lowest usable byte; the guard lies below. Null if unknown.
  std::byte* stack_high = nullptr;  ///< One past the highest byte that frames may use.
  void* owner = nullptr;            ///< The coroutine that runs here; set by the scheduler.
  StackContext* next = nullptr;     ///< Free list of the pool.
  void (*entry)(StackContext&) noexcept = nullptr;
  Slab* slab = nullptr;  ///< Null for a thread's own stack.
  unsigned valgrind_id = 0;
  bool resting = false;  ///< Goes on at the end of its entry function's loop, not at its start.
};

/// Makes `context` stand for the stack that runs now: the thread's own, or a context that the
/// holder of a StackFaultGuard on this thread has running (a runtime run inside another's
/// coroutine), or a stack of unknown bounds. It must outlive every switch to or from it. Raises the
/// thread's floating-point status flags, for the reason that float_state.hpp gives.
void adopt_thread_stack(StackContext& context);

/// Ends what `adopt_thread_stack` began; called on that same stack.
void drop_thread_stack(StackContext& context) noexcept;

}  // namespace fermata::detail
