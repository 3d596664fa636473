// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fermata/core/suspend.hpp"
#include "fermata/reactor/signal.hpp"
#include "fermata/sync/future.hpp"

namespace fermata {

/// Waits for the next delivery of `signum`. Throws UsageError for a signal that cannot be handled.
void wait_signal(int signum, const WaitOptions& options = {},
                 SourcePlace place = SourcePlace::current());

/// A future of the next delivery of `signum` from now on; its value is `signum`. Until then it
/// keeps the program alive, awaited or not; dropping its last handle, or cancelling it, ends that.
/// When `token` fires first it fails with OperationCancelled. Throws UsageError for a signal that
/// cannot be handled, OperationCancelled when the token has fired already.
[[nodiscard]] Future<int> signal(int signum, Event* token = nullptr,
                                 SourcePlace place = SourcePlace::current());

/// Catches a signal for as long as it lives: one that comes while nobody waits is remembered, once.
class SignalWatch {
 public:
  explicit SignalWatch(int signum);
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  /// Returns at the next delivery, or at once when there was one since the last wait.
  void wait(const WaitOptions& options = {}, SourcePlace place = SourcePlace::current());

  [[nodiscard]] bool pending() const noexcept { return pending_; }

 private:
  backend::SignalEvent catcher_;  // Hidden: alone it is not activity.
  Subscription subscription_;
  bool pending_ = false;
};

}  // namespace fermata
