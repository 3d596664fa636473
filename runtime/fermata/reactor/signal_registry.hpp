// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which runtimes of this process want which signals: the one place that calls sigaction.
//
// Sharing    A signal goes to every mailbox that watches it. The first watcher of a signal installs
//            the handler, the last one puts back the disposition that was found (SIG-04).
// Threads    A mailbox belongs to one thread; mailboxes of different threads do not disturb each
//            other. The handler only sets flags and calls the mailbox's wake.

#include <array>
#include <atomic>
#include <csignal>

namespace fermata::detail {

/// From now on a write to a connection that is gone is an error, not the end of the process. A
/// handler that the program has set stays.
void ignore_broken_pipes() noexcept;

class SignalMailbox {
 public:
  /// `wake(context)` is called from the signal handler, on any thread: it must be safe there.
  using Wake = void (*)(void* context) noexcept;
  SignalMailbox(Wake wake, void* context);
  SignalMailbox(const SignalMailbox&) = delete;
  SignalMailbox& operator=(const SignalMailbox&) = delete;
  /// Unwatches everything.
  ~SignalMailbox();

  /// Throws InputOutputError when the signal cannot be handled. REQUIRES: not watched yet.
  void watch(int signum);
  /// Stops watching a signal; raised signals that were not collected are forgotten. REQUIRES:
  /// watched.
  void unwatch(int signum) noexcept;

  /// Calls `deliver(signum)` for each signal raised since the last time, in numeric order.
  template <class Deliver>
  void collect(Deliver deliver) {
    if (!any_raised_.exchange(false)) return;
    for (int signum = 1; signum < kSignals; ++signum) {
      if (raised_[static_cast<std::size_t>(signum)].exchange(false)) deliver(signum);
    }
  }

  /// From the signal handler.
  void raise(int signum) noexcept;

 private:
  static constexpr int kSignals = NSIG;

  Wake wake_;
  void* context_;
  std::array<std::atomic<bool>, kSignals> watched_{};
  std::array<std::atomic<bool>, kSignals> raised_{};
  std::atomic<bool> any_raised_ = false;
};

}  // namespace fermata::detail
