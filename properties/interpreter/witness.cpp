// SPDX-License-Identifier: Apache-2.0
#include "properties/interpreter/witness.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace fermata::properties {
namespace {

std::string count(std::size_t number, const char* what) {
  return std::to_string(number) + " " + what;
}

const CoroutineBase& as_coroutine(const Event& event) {
  return static_cast<const CoroutineBase&>(event);
}

template <class Visit>
void for_each_registration(const Runtime& runtime, const Event& event, Visit visit) {
  for (const CoroutineBase* each = runtime.registry().first(); each != nullptr;
       each = each->next_registered()) {
    for (const backend::Registration* entry = each->waker().first(); entry != nullptr;
         entry = entry->next()) {
      if (&entry->source() == &event) visit(*entry);
    }
  }
}

}  // namespace

void Witness::note(backend::Trace kind, const Event* subject, std::uint64_t detail) {
  state_.arena.audit().trace(kind, subject, detail);
  switch (kind) {
    case backend::Trace::EventStarted:
      return started(*subject);
    case backend::Trace::EventStopped:
      return stopped(*subject);
    case backend::Trace::EventClosed:
      return closed(*subject);
    case backend::Trace::EventFired:
      return fired(*subject);
    case backend::Trace::EventDestroyed:
      if (SharedEvent* shared = state_.shared(subject->serial())) {
        shared->holders.died();
        shared->callbacks.clear();
        shared->event = nullptr;
      }
      return;
    case backend::Trace::CallbackCalled:
      state_.turn = subject->serial();
      return;
    case backend::Trace::CallbackRemoved:
      return left_by_callback(*subject);
    case backend::Trace::Spawned:
      if (state_.spawning != nullptr) state_.spawning->serial = subject->serial();
      state_.spawning = nullptr;
      return;
    case backend::Trace::Enqueued:
      return enqueued(*subject, detail);
    case backend::Trace::Finished:
      if (Task* task = state_.task(subject->serial()))
        state_.complain(*task, task->life.finished());
      return;
    case backend::Trace::Cancelled:
      return cancelled(*subject, detail);
    case backend::Trace::Polled:
      return polled(detail == 1);
    case backend::Trace::DeadlockReported:
      return deadlock(detail);
    case backend::Trace::ShutdownStarted:
      if (++state_.shutdowns > 1) state_.complain("CORE-SC-13 (SHUT): it was shut down twice");
      state_.shutdown_began = state_.runtime().now();
      return;
    default:
      return;
  }
}

void Witness::started(const Event& event) {
  const bool first = state_.activity.references(event.serial()) == 0;
  state_.activity.start(event.serial(),
                        !event.is_hidden() && event.kind() != backend::EventKind::Io);
  if (first && event.kind() == backend::EventKind::Timer) {
    const Duration timeout = static_cast<const Timer&>(event).timeout();
    state_.timers.arm(event.serial(), state_.runtime().now() + timeout);
  }
}

void Witness::stopped(const Event& event) {
  state_.activity.stop(event.serial());
  if (state_.activity.references(event.serial()) == 0) state_.timers.disarm(event.serial());
}

void Witness::closed(const Event& event) {
  state_.activity.leave(event.serial());
  state_.timers.close(event.serial());
  if (SharedEvent* shared = state_.shared(event.serial())) shared->starts = 0;
}

void Witness::fired(const Event& event) {
  const std::uint64_t serial = event.serial();
  if (event.kind() == backend::EventKind::Timer) {
    const auto& timer = static_cast<const Timer&>(event);
    state_.complain(state_.timers.fire(serial, state_.runtime().now()));
    if (timer.mode() == TimerMode::Periodic) {
      state_.timers.arm(serial, state_.runtime().now() + timer.timeout());
    } else {
      state_.activity.leave(serial);
    }
  }
  for (Task& task : state_.tasks) task.wait.fired(serial, event.is_closed());
  if (SharedEvent* shared = state_.shared(serial)) {
    ++shared->fires;
    if (shared->is_multishot()) shared->starts = 0;
    state_.complain(shared->callbacks.begin_pass());
  }
}

void Witness::left_by_callback(const Event& event) {
  if (state_.turn == event.serial()) {
    state_.turn = 0;  // A waiter that was called and is answered.
  } else if (!state_.removing) {
    if (SharedEvent* shared = state_.shared(event.serial())) shared->callbacks.stranger_left();
  }
}

void Witness::enqueued(const Event& event, std::uint64_t cause) {
  if (cause > static_cast<std::uint64_t>(backend::WakeCause::Shutdown)) {
    state_.complain("CORE-GL-06 (ONCE): a coroutine was queued without a cause");
  }
  const detail::ReadyQueue& ready = state_.runtime().scheduler().ready();
  std::vector<std::uint64_t> serials(ready.size());
  for (std::size_t i = 0; i < ready.size(); ++i) serials[i] = ready[i].serial();
  const auto times = std::count(serials.begin(), serials.end(), event.serial());
  if (times != 1) {
    state_.complain("CORE-WK-02 (ONCE): " + event.info() + " is in the ready queue " +
                    count(static_cast<std::size_t>(times), "times"));
  }
  const bool at_head = as_coroutine(event).priority() == Priority::High &&
                       static_cast<backend::WakeCause>(cause) != backend::WakeCause::Yield;
  state_.complain(state_.ready.queued(event.serial(), at_head, serials));
}

void Witness::cancelled(const Event& event, std::uint64_t cause) {
  Task* task = state_.task(event.serial());
  if (task == nullptr) return;
  const CoroutineBase& coroutine = as_coroutine(event);
  const bool itself = state_.runtime().current() == &coroutine &&
                      coroutine.waker().status != backend::WakerStatus::Waiting &&
                      coroutine.waker().status != backend::WakerStatus::Queued;
  task->life.cancelled(itself ? models::LifecycleModel::By::Itself
                              : models::LifecycleModel::By::Another);
  const auto by = static_cast<backend::WakeCause>(cause);
  if (by != backend::WakeCause::Deadlock && by != backend::WakeCause::Shutdown) return;
  ++(by == backend::WakeCause::Deadlock ? task->deadlock_cancels : task->shutdown_cancels);
  task->must_end = true;
  task->deferred = false;
  if (task->protect_depth > 0) task->protection_cleared = true;
}

void Witness::polled(bool may_block) {
  state_.timers.turn();
  if (!may_block) return;
  const detail::Scheduler& scheduler = state_.runtime().scheduler();
  if (!scheduler.ready().empty() || !scheduler.microtasks().empty()) {
    state_.complain("CORE-SC-08 (WAKE): the loop may block while there is something to run");
  }
  if (state_.activity.active_count() == 0) {
    state_.complain("CORE-SC-08 (DL-): the loop may block though nothing is active");
  }
}

void Witness::deadlock(std::uint64_t waiting) {
  ++state_.deadlocks;
  std::vector<const models::WaitModel*> waits;
  for (const Task& task : state_.tasks) {
    if (!task.life.is_finished()) waits.push_back(&task.wait);
  }
  state_.complain(models::judge_deadlock(waits, state_.activity.active_count()));
  if (waiting != state_.runtime().registry().size() || waiting < waits.size()) {
    state_.complain("CORE-SC-12 (ERR): the deadlock names " + count(waiting, "coroutines, but ") +
                    count(waits.size(), "of the program's wait"));
  }
  for (const Task& task : state_.tasks) {
    if (task.deadlock_cancels >= state_.deadlocks) {
      state_.complain(task, "CORE-SC-11 (CANC): more than one cancellation for each deadlock");
    }
  }
}

// --- at rest ---

void Witness::end_step(Runtime& runtime) {
  state_.turn = 0;
  for (SharedEvent& shared : state_.events) {
    state_.complain(shared.callbacks.end_pass());
    compare_event(shared);
  }
  if (runtime.active_event_count() != state_.activity.active_count()) {
    state_.complain(
        "CORE-EV-01 (STOP): " + count(state_.activity.active_count(), "events are active, ") +
        count(runtime.active_event_count(), "are counted"));
  }
  for (Task& task : state_.tasks) compare_task(task);
  for (const Listener* listener : state_.listeners) {
    if (listener->ref_count() != (listener->event() != nullptr ? 2u : 1u)) {
      state_.complain("CORE-CB-06 (REF): a callback counts " +
                      count(listener->ref_count(), "holders at rest"));
    }
  }
  state_.arena.audit().end_step(runtime);
  if (state_.arena.findings().any()) throw backend::AbandonRun{};
}

void Witness::compare_event(SharedEvent& shared) {
  std::uint32_t waits = 0;
  std::uint32_t started = 0;
  if (shared.event != nullptr) {
    for_each_registration(state_.runtime(), *shared.event, [&](const backend::Registration& entry) {
      ++waits;
      started += entry.is_started() ? 1 : 0;
    });
  }
  state_.complain(shared.holders.compare_life(waits));
  if (shared.event == nullptr) return;
  const Event& event = *shared.event;
  if (!shared.is_timer() && shared.fires != shared.notified) {
    state_.complain("CORE-CB-10 (WAKE): " + event.info() + " was notified " +
                    count(shared.notified, "times, it told its subscribers ") +
                    count(shared.fires, "times"));
  }
  state_.complain(shared.holders.compare(waits, event.ref_count()));
  const std::uint32_t references = event.loop_ref_count();
  if (references != shared.starts + started) {
    state_.complain("CORE-EV-02 (STOP): " + event.info() + " has " +
                    count(references, "loop references, expected ") +
                    count(shared.starts, "of the program and ") + count(started, "of waits"));
  }
  if (event.is_closed() && references != 0) {
    state_.complain("CORE-EV-05 (STOP): a closed event has loop references");
  }
  const backend::CallbackVector& vector = event.callbacks();
  const std::size_t expected = shared.callbacks.size() + (event.is_closed() ? 0 : waits);
  if (vector.size() < shared.callbacks.size() ||
      (!event.is_closed() && vector.size() != expected) || vector.size() > vector.capacity()) {
    state_.complain("CORE-CB-04 (REF): " + event.info() + " has " +
                    count(vector.size(), "subscribers, expected ") +
                    count(expected, "of the program and of waits"));
  }
}

void Witness::compare_task(Task& task) {
  if (task.life.is_finished() || task.serial == 0 || !task.wait.answered()) return;
  const CoroutineBase* coroutine = nullptr;
  for (const CoroutineBase* each = state_.runtime().registry().first(); each != nullptr;
       each = each->next_registered()) {
    if (each->serial() == task.serial) coroutine = each;
  }
  if (coroutine != nullptr && coroutine->waker().status == backend::WakerStatus::Waiting) {
    state_.complain(task, "CORE-GL-01 (WAKE): what it waits for has happened, and it sleeps on");
  }
}

}  // namespace fermata::properties
