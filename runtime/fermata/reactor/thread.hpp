// SPDX-License-Identifier: Apache-2.0
#pragma once

// A thread with a runtime of its own, as the runtime that started it sees it.
//
// Outcome     Closed first, then told once; kept for late waiters (THR-05). An error that nobody
//             takes is logged when the last handle goes.
// Activity    While somebody waits for it, and when nothing else is left of the run: a run that
//             ends well waits for its threads, one that is shut down shuts them down first.
// Ownership   The live thread holds a reference: whoever started it may vanish.
// Source      THR-05 to THR-07.

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fermata/core/awaited_error.hpp"
#include "fermata/reactor/thread_link.hpp"

namespace fermata::backend {

class Threads;

class ThreadEvent : public Event, private TriggerKeeper {
 public:
  [[nodiscard]] const std::string& name() const noexcept { return link_->name(); }
  /// Done as soon as this runtime knows of the end.
  [[nodiscard]] ThreadStage stage() const noexcept;
  /// How it ended, once it has; null before, and when it succeeded.
  [[nodiscard]] const std::exception_ptr& error() const noexcept { return outcome_.error; }

  /// Cancels its main coroutine, or keeps it from beginning. Never waits; no effect on one that has
  /// ended.
  void cancel() noexcept { link_->request(detail::ThreadRequest::Cancel); }
  bool request_cancel(const std::exception_ptr&) override {
    cancel();
    return true;
  }

  /// `handler` runs when the thread has ended, in a coroutine of this runtime; at once, when it has
  /// ended already. Not when this run is ended by force.
  void finally(std::function<void()> handler);

  [[nodiscard]] const Outcome* replay() const noexcept override {
    return is_closed() ? &outcome_ : nullptr;
  }
  [[nodiscard]] std::exception_ptr error_for_waiter(const std::exception_ptr& error) override {
    return awaited_error_.of(error, [this] { return info(); });
  }
  [[nodiscard]] bool reports_error() const noexcept override { return true; }
  /// 'Thread #12 "parser"'.
  [[nodiscard]] std::string info() const override;
  void explain_wait(WaitFacts& facts, const CoroutineBase& waiter) const override;

 private:
  friend class Threads;
  ThreadEvent(Threads& threads, std::shared_ptr<detail::ThreadLink> link);
  ~ThreadEvent() override;

  void before_close() noexcept override;
  /// The thread is done and gone.
  void settle() noexcept;
  void run_handlers();
  /// Counts as activity from now on, whoever waits.
  void linger();

  Threads& threads_;
  std::shared_ptr<detail::ThreadLink> link_;
  Ref<TriggerHandle> ended_;
  Subscription on_end_;
  Outcome outcome_;
  detail::AwaitedError awaited_error_;
  std::vector<std::function<void()>> handlers_;
  bool lingers_ = false;
};

}  // namespace fermata::backend
