// SPDX-License-Identifier: Apache-2.0

// Wakers and lost wake-ups (Z-WK).

#include <functional>
#include <utility>

#include "fermata/runtime.hpp"
#include "properties/zoo/scene.hpp"
#include "properties/zoo/workload.hpp"

namespace fermata::properties::zoo {
namespace {

using std::chrono::milliseconds;

// Four readers share one armed event; two of them are cancelled.
FERMATA_WORKLOAD(shared_event, "Z-WK-01", 2, "STOP", "WAKE", "DL-", "CORE-EV-02", "CORE-EV-01",
                 "CORE-WK-06") {
  const auto shared = make_timer(current_runtime(), milliseconds(100));
  std::vector<Coroutine<>> readers;
  const auto canceller = spawn("canceller", [&] {
    readers[0].cancel();
    readers[1].cancel();
    std::uint32_t waiting = 0;
    for (const auto& reader : readers) waiting += sleeps(reader) ? 1 : 0;
    if (shared->loop_ref_count() != waiting) {
      complain(world, "STOP (CORE-EV-02): " + std::to_string(waiting) +
                          " readers wait for the shared event, it has " +
                          std::to_string(shared->loop_ref_count()) + " starts");
    }
  });
  for (const char* name : {"first", "second", "third", "fourth"}) {
    readers.push_back(spawn(std::string(name), [&] { wait(*shared); }));
  }
  await(canceller);
  for (const auto& reader : readers) cancelled_or_done(reader);
}

// Any of two promises, the second one kept already.
FERMATA_WORKLOAD(any_of_two, "Z-WK-02", 1, "WAKE", "DL+", "CORE-EV-13", "CORE-WK-03",
                 "CORE-GL-01") {
  const auto never = make_event(true);
  const auto kept = make_event(true);
  const auto completer = spawn("completer", [&] { kept->complete(); });
  const auto waiter = spawn("waiter", [&] {
    backend::Waker& waker = current_coroutine().waker();
    waker.clear();
    waker.resume_when(*never, backend::WakeRule::Resolve);
    waker.resume_when(*kept, backend::WakeRule::Resolve);
    current_runtime().scheduler().suspend(SourcePlace::current());
    waker.clear();
  });
  await(completer);
  delay(milliseconds(100));
  if (sleeps(waiter)) {
    complain(world, "WAKE (CORE-EV-13): the waiter has parked though one of its promises is kept");
  }
  await(waiter);
}

// All of two promises, one of which is kept already.
FERMATA_WORKLOAD(all_of_two, "Z-WK-02b", 1, "WAKE", "DL+", "CORE-AW-11") {
  const auto kept = make_event(true);
  const auto open = make_event(true);
  kept->complete();
  const auto completer = spawn("completer", [&] { open->complete(); });
  const auto waiter = spawn("waiter", [&] { when_all_settled({kept, open}); });
  await(completer);
  delay(milliseconds(100));
  if (sleeps(waiter)) {
    complain(world, "WAKE (CORE-AW-11): both promises are kept, and who waits for all sleeps on");
  }
  cancelled_or_done(waiter);
}

// A microtask answers a wait for either of two promises.
FERMATA_WORKLOAD(answered_by_a_microtask, "Z-WK-05", 2, "ONCE", "STOP", "CORE-WK-03",
                 "CORE-GL-02") {
  const auto first = make_event(true);
  const auto second = make_event(true);
  class Answer final : public backend::Microtask {
   public:
    explicit Answer(std::function<void()> task) : task_(std::move(task)) {}
    void run() override { task_(); }

   private:
    std::function<void()> task_;
  };
  Coroutine<> waiter;
  const auto answer = [&] {
    first->complete();
    if (sleeps(waiter) || waiter->waker().empty()) return;
    complain(world, "STOP (CORE-WK-03): the waiter is on its way, and still subscribed");
  };
  const auto answerer = spawn("answerer", [&] {
    if (!sleeps(waiter)) return static_cast<void>(first->complete());
    auto* const task = new Answer(answer);
    current_runtime().queue_microtask(*task);
    task->release();
  });
  waiter = spawn("waiter", [&] {
    backend::Waker& waker = current_coroutine().waker();
    waker.clear();
    waker.resume_when(*first, backend::WakeRule::Resolve);
    waker.resume_when(*second, backend::WakeRule::Resolve);
    current_runtime().scheduler().suspend(SourcePlace::current());
    waker.clear();
  });
  await(answerer);
  await(waiter);
}

// A cancelled wait; the clean-up fires what was waited for.
FERMATA_WORKLOAD(clean_up_after_cancel, "Z-WK-04", 2, "ONCE", "UAF", "CORE-WK-09", "CORE-WK-03",
                 "CORE-GL-02") {
  const auto source = make_event(false);
  Coroutine<> waiter;
  const auto canceller = spawn("canceller", [&] { waiter.cancel(); });
  waiter = spawn("waiter", [&] {
    try {
      wait_until_closed(*source);
    } catch (const Cancellation&) {
      source->complete();
      const backend::Waker& waker = current_coroutine().waker();
      if (waker.status != backend::WakerStatus::None || !waker.empty()) {
        complain(world, std::string("ONCE (CORE-WK-09): the waiter runs, and its waker is ") +
                            to_string(waker.status) +
                            (waker.empty() ? "" : " and still subscribed"));
      }
      suspend();
    }
  });
  await(canceller);
  cancelled_or_done(waiter);
}

}  // namespace

}  // namespace fermata::properties::zoo
