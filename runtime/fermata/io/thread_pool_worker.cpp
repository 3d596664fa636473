// SPDX-License-Identifier: Apache-2.0
#include "fermata/io/thread_pool_worker.hpp"

#include <exception>

#include "fermata/core/scope.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sync/await.hpp"
#include "fermata/sync/future.hpp"

namespace fermata::detail {

namespace {

using Fate = ThreadPoolLedger::Fate;

/// Fires when the body of a task has ended.
class BodyEnded final : public Event {
 public:
  explicit BodyEnded(const Coroutine<void>& body)
      : Event(current_runtime(), backend::EventKind::Plain), body_(body) {}
  ~BodyEnded() override { shut(); }

  void explain_wait(backend::WaitFacts& facts, const CoroutineBase&) const override {
    facts.is("task", {}, nullptr);
    facts.needs(body_.event());
  }

 private:
  void dispose() noexcept override {}

  const Coroutine<void>& body_;
};

/// A task while it runs, in a scope of its own. What it leaves running there is cancelled when it
/// ends.
class Execution {
 public:
  Execution(ThreadPoolLedger& ledger, ThreadPoolLedger::Running& running, ThreadPoolTask& task,
            bool cancellable)
      : task_(task), scope_("task"), ended_(body_) {
    scope_.set_exception_handler(
        [this](ScopeBase&, CoroutineBase&, const std::exception_ptr& error) { note(error); });
    body_ = scope_.spawn("task", [this, &ledger, &running] {
      ledger.taken_up(running);
      task_.call();
    });
    on_end_ = subscribe(body_.event(), [this](Event&, const Outcome&) { ended_.notify({}); });
    if (!cancellable) return;
    on_unwanted_ = subscribe(*running.trigger, [this](Event&, const Outcome&) { body_.cancel(); });
  }

  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;
  // Only an end by force leaves anything here to wait for.
  ~Execution() {
    scope_.set_exception_handler([](ScopeBase&, CoroutineBase&, const std::exception_ptr&) {});
    if (body_->is_completed()) return;
    try {
      wait(body_.event());
    } catch (...) {
    }
  }

  /// Returns when nothing of it is left. A cancellation of the caller cancels it, and is thrown
  /// when that has ended.
  void finish() {
    std::exception_ptr interrupted;
    const auto wait_for = [&](auto wait_once) {
      try {
        wait_once();
      } catch (const Cancellation&) {
        if (!interrupted) interrupted = std::current_exception();
      }
    };
    wait_for([&] { join_body(); });
    if (interrupted) protect([&] { join_body(); });
    if (!body_->is_started()) task_.fail(not_begun());
    scope_.cancel();
    wait_for([&] {
      scope_.await_after_cancellation(
          [this](const std::exception_ptr& error, ScopeBase&) { note(error); });
    });
    on_unwanted_.cancel();
    if (late_error_) task_.fail(late_error_);
    if (interrupted) std::rethrow_exception(interrupted);
  }

 private:
  // Throws what has come to the caller only.
  void join_body() {
    try {
      if (!body_->is_completed()) wait(ended_);
    } catch (const Cancellation&) {
      body_.cancel();
      throw;
    }
  }
  void note(const std::exception_ptr& error) {
    if (!late_error_ && !is_cancellation(error)) late_error_ = error;
  }

  ThreadPoolTask& task_;
  Scope scope_;
  Coroutine<void> body_;
  BodyEnded ended_;
  Subscription on_end_;
  Subscription on_unwanted_;
  std::exception_ptr late_error_;  // Of a coroutine that it has left behind.
};

}  // namespace

void ThreadPoolWorker::operator()() const {
  for (std::size_t i = 1; i < concurrency_; ++i) {
    spawn("worker", [worker = *this] { worker.serve(); });
  }
  serve();
}

void ThreadPoolWorker::serve() const {
  while (auto task = queue_.next()) run(**task);
}

void ThreadPoolWorker::run(ThreadPoolTask& task) const {
  const Ref<backend::TriggerHandle> unwanted = current_runtime().reactor().triggers().make();
  if (!task.bind_cancel(*unwanted)) return ledger_->dropped(Fate::Cancelled);
  ThreadPoolLedger::Running running{{}, unwanted.get()};
  if (!ledger_->begin(running)) {
    task.unbind_cancel();
    ledger_->dropped(Fate::Cancelled);
    task.fail(not_begun());
    return task.settle();
  }
  struct EndOnExit {
    ThreadPoolLedger& ledger;
    ThreadPoolLedger::Running& running;
    ThreadPoolTask& task;
    Fate fate = Fate::Rejected;
    ~EndOnExit() {
      task.unbind_cancel();
      ledger.end(running, fate);
    }
  };
  const auto settled = [&] { return task.is_cancelled() ? Fate::Cancelled : Fate::Completed; };
  std::exception_ptr interrupted;
  {
    EndOnExit end{*ledger_, running, task};
    try {
      Execution execution(*ledger_, running, task, mode_ == ThreadPoolMode::Coroutine);
      execution.finish();
    } catch (const Cancellation&) {
      interrupted = std::current_exception();
    }
    end.fate = settled();
  }
  task.settle();
  if (interrupted) std::rethrow_exception(interrupted);
}

}  // namespace fermata::detail
