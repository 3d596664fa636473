// SPDX-License-Identifier: Apache-2.0
#pragma once

// One scope of suspending(): while its coroutine has control, the system's calls go through it.
//
// Off        From the moment the coroutine gives up control until it has it again, and while
//            Fermata itself works on the coroutine's stack: then calls are the system's.
// Callbacks  Where nothing can be suspended a call that waits blocks the thread.
// Kept       errno and the mask of signals are the coroutine's own.

#include <cerrno>
#include <csignal>
#include <exception>
#include <memory>

#include "fermata/base/source_place.hpp"
#include "fermata/core/coroutine.hpp"
#include "fermata/posix/suspending/held_locks.hpp"
#include "fermata/posix/suspending/system_kernel.hpp"
#include "fermata/posix/suspending/waiter.hpp"

namespace fermata::posix {

class Suspension final : public Waiter {
 public:
  /// Begins a scope of `coroutine`, which is the current one and is in no other.
  Suspension(CoroutineBase& coroutine, const SourcePlace& place);
  Suspension(const Suspension&) = delete;
  Suspension& operator=(const Suspension&) = delete;
  ~Suspension();

  /// The one that is on; null for none.
  [[nodiscard]] static Suspension* current() noexcept;
  [[nodiscard]] CoroutineBase& coroutine() const noexcept { return coroutine_; }
  /// What the scope must throw at its end, when its function has thrown `thrown`, which may be
  /// null; null for nothing.
  [[nodiscard]] std::exception_ptr end_with(std::exception_ptr thrown) const;

  int wait(std::span<const pollfd> asked, Limit limit) override;
  int sleep(std::chrono::nanoseconds span) override;
  int run_blocking(std::function<void()> work) override;
  void yield() override;
  int refusal() override;
  [[nodiscard]] bool disguises_descriptors() const noexcept override { return true; }

 private:
  class Handler;
  class Off;

  [[nodiscard]] bool can_suspend() const noexcept;
  void leave() noexcept;
  void enter() noexcept;
  /// What a wait inside of a call comes to.
  template <class Wait>
  [[nodiscard]] int suspended(const Wait& wait);

  CoroutineBase& coroutine_;
  SourcePlace place_;
  SystemKernel kernel_{*this};
  BlockingWaiter blocking_;
  HeldLocks locks_;
  HeldLocks* outer_locks_ = nullptr;
  Suspension* outer_;  // Of another coroutine, which runs this one's runtime.
  Kernel* outside_;    // Who serves what is not in the scope.
  std::shared_ptr<Handler> handler_;
  std::exception_ptr ending_;  // The cancellation, once there is one.
  bool told_ = false;          // Has answered EINTR.
  bool gave_up_ = false;       // Has left foreign code by an exception.
  unsigned ignored_ = 0;       // Answers ECANCELED.
  bool was_on_ = false;        // When the coroutine gave up control.
  int errno_ = 0;
  bool has_own_mask_ = false;
  sigset_t own_mask_ = {};
  sigset_t outside_mask_ = {};  // What the thread had when the coroutine last got control.
};

}  // namespace fermata::posix
