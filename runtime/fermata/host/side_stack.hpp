// SPDX-License-Identifier: Apache-2.0
#pragma once

// A flow of control on a stack of its own, which goes on where it left whenever it is entered.
//
// Threads   One; it keeps its exceptions in flight and its errno to itself.
// Overflow  Is reported like that of a coroutine's stack.

#include "fermata/context/context_pool.hpp"
#include "fermata/context/stack_fault.hpp"

namespace fermata::host::detail {

class SideStack final {
 public:
  using Body = void (*)(void* argument) noexcept;

  /// Nothing runs before the first enter(). Throws UsageError and StackExhausted.
  SideStack(const StackOptions& stacks, Body body, void* argument);
  SideStack(const SideStack&) = delete;
  SideStack& operator=(const SideStack&) = delete;
  /// Frees the stack; objects on it are not destroyed.
  ~SideStack() = default;

  /// Returns at the next leave(), or at the end of the body. REQUIRES: not inside, not ended.
  void enter();

  /// Back to where enter() was called. `from` runs: own(), or a context that the body has switched
  /// to. REQUIRES: inside.
  void leave(fermata::detail::StackContext& from) noexcept;

  /// Where the body was called.
  [[nodiscard]] fermata::detail::StackContext& own() noexcept { return own_; }
  [[nodiscard]] bool inside() const noexcept { return running_ != nullptr; }
  [[nodiscard]] bool is_ended() const noexcept { return ended_; }

 private:
  static void start(fermata::detail::StackContext& self) noexcept;

  Body body_;
  void* argument_;
  fermata::detail::ContextPool pool_;
  fermata::detail::StackContext& own_;
  fermata::detail::StackContext* suspended_;
  fermata::detail::StackContext* running_ = nullptr;  // own_ while inside.
  fermata::detail::StackContext outside_;
  fermata::detail::StackFaultGuard guard_;
  bool ended_ = false;
};

}  // namespace fermata::host::detail
