// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fermata/core/suspend.hpp"
#include "fermata/reactor/trigger.hpp"

namespace fermata {

/// Wakes a coroutine from another thread or from a signal handler. Fires coalesce, so the waiter
/// must look for everything there is; a fire while nobody waits is remembered, once.
///
/// Threads that fire must know that the trigger is alive: take it away from them, under a lock of
/// theirs, before it ends.
class Trigger {
 public:
  explicit Trigger(const SourcePlace& place = SourcePlace::current());
  Trigger(const Trigger&) = delete;
  Trigger& operator=(const Trigger&) = delete;
  ~Trigger() { handle_->close(); }

  /// From any thread.
  void fire() noexcept { handle_->fire(); }
  [[nodiscard]] backend::TriggerHandle& handle() const noexcept { return *handle_; }

  /// Returns after the next fire, or at once when there was one since the last wait.
  void wait(const WaitOptions& options = {}, SourcePlace place = SourcePlace::current());

 private:
  Ref<backend::TriggerHandle> handle_;
  Subscription subscription_;
  bool pending_ = false;
};

}  // namespace fermata
