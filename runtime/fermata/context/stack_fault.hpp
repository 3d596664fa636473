// SPDX-License-Identifier: Apache-2.0
#pragma once

// Says whose stack overflowed before the process dies of it.
//
// While a guard lives, SIGSEGV and SIGBUS have a handler of ours (one for the process) on an
// alternate stack (one for the thread). A fault in the page range below the stack of a context that
// runs here prints one line to standard error, as does one at an address that was read from freed
// memory (base/freed_memory.hpp); every fault then goes to the handler that was there
// before. With the last guard of the process the former handler returns, with the last one of the
// thread its former alternate stack. Further guards cost no system call: a loop that makes many
// short-lived runtimes does well to hold one around it.

#include <cstddef>

#include "fermata/context/context.hpp"

namespace fermata::detail {

class StackFaultGuard final {
 public:
  /// Writes who `owner` is, as a C string of at most `size` bytes, in a signal handler: no
  /// allocation, no lock. `owner` is never null.
  using Describe = void (*)(void* owner, char* out, std::size_t size) noexcept;

  /// `*running` is the context that the caller has running on this thread, or null; it is read
  /// when a fault comes. Guards of one thread may end in any order.
  StackFaultGuard(StackContext* const* running, Describe describe);
  ~StackFaultGuard();

  StackFaultGuard(const StackFaultGuard&) = delete;
  StackFaultGuard& operator=(const StackFaultGuard&) = delete;

 private:
  friend struct StackFaultHandler;
  friend const StackContext* running_context_around(const std::byte* address) noexcept;

  StackContext* const* running_;
  Describe describe_;
  StackFaultGuard* next_;
  StackFaultGuard* previous_ = nullptr;
};

/// The context that some guard of this thread has running and whose stack holds `address`, or null.
[[nodiscard]] const StackContext* running_context_around(const std::byte* address) noexcept;

}  // namespace fermata::detail
