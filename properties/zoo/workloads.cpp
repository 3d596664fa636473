// SPDX-License-Identifier: Apache-2.0
#include "properties/zoo/workload.hpp"

#include <array>
#include <string>

#include "fermata/runtime/runtime.hpp"
#include "properties/interpreter/stage.hpp"
#include "properties/laws/bystanders.hpp"

namespace fermata::properties::zoo {
namespace {

using std::chrono::milliseconds;

void complain(sim::World& world, const std::string& what) {
  world.fail(sim::Verdict::Safety, what);
}

Ref<PlainEvent> make_event(bool keeps) {
  return Ref<PlainEvent>::adopt(*new PlainEvent(current_runtime(), keeps));
}

bool sleeps(const Coroutine<>& coroutine) {
  return coroutine->waker().status == WakerStatus::Waiting;
}

void expect_awake(sim::World& world, const std::vector<Coroutine<>>& waiters) {
  for (const Coroutine<>& waiter : waiters) {
    if (sleeps(waiter)) {
      complain(world, "WAKE (CORE-CB-01): " + waiter->label() +
                          " sleeps on though the event it waits for has fired");
    }
  }
}

/// Waits until the event is closed; what it tells before does not matter.
void wait_until_closed(Event& event) {
  if (event.closed()) return;
  Waker& waker = current_coroutine().waker();
  waker.clear();
  waker.resume_when(event, WakeRule::Custom, false,
                    [](Registration& registration, Event& source, const Outcome&) {
                      if (!source.closed()) return;
                      source.runtime().scheduler().wake(registration.coroutine(), &source, nullptr,
                                                        nullptr, WakeCause::Event);
                    });
  current_runtime().scheduler().suspend(SourcePlace::current());
  waker.clear();
}

void cancelled_or_done(const Coroutine<>& coroutine) {
  try {
    await(coroutine);
  } catch (const Cancellation&) {
  }
}

// Three wait for one promise; somebody keeps it.
void broadcast(sim::World& world) {
  const auto promise = make_event(true);
  std::vector<Coroutine<>> waiters;
  for (const char* name : {"first", "second", "third"}) {
    waiters.push_back(spawn(std::string(name), [&] { wait(*promise); }));
  }
  await(spawn("completer", [&] {
    suspend();
    promise->complete();
    expect_awake(world, waiters);
  }));
  for (const auto& waiter : waiters) await(waiter);
}

// A listener closes the stream at the last byte; another coroutine, there before it, waits for the
// end of the stream.
void close_inside_callback(sim::World& world) {
  const auto stream = make_event(false);
  std::vector<Coroutine<>> waiters;
  const auto writer = spawn("writer", [&] {
    const Subscription listener = subscribe(*stream, [&](Event&, const Outcome&) {
      if (!stream->closed()) stream->complete();
    });
    stream->notify({});
    expect_awake(world, waiters);
  });
  waiters.push_back(spawn("reader", [&] {
    suspend();
    wait_until_closed(*stream);
  }));
  await(writer);
  await(waiters.front());
}

// The first subscriber throws; two more wait for the same promise.
void throwing_subscriber(sim::World& world) {
  const auto promise = make_event(true);
  const Subscription thrower =
      subscribe(*promise, [](Event&, const Outcome&) { throw PlannedError(1); });
  std::vector<Coroutine<>> waiters;
  for (const char* name : {"first", "second"}) {
    waiters.push_back(spawn(std::string(name), [&] { wait(*promise); }));
  }
  await(spawn("completer", [&] {
    suspend();
    try {
      promise->complete();
      complain(world, "ERR (CORE-CB-09): what a subscriber threw did not surface");
    } catch (const PlannedError&) {
    }
    expect_awake(world, waiters);
  }));
  for (const auto& waiter : waiters) await(waiter);
}

// Four readers share one armed event; two of them are cancelled.
void shared_event(sim::World& world) {
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
void any_of_two(sim::World& world) {
  const auto never = make_event(true);
  const auto kept = make_event(true);
  const auto completer = spawn("completer", [&] { kept->complete(); });
  const auto waiter = spawn("waiter", [&] {
    Waker& waker = current_coroutine().waker();
    waker.clear();
    waker.resume_when(*never, WakeRule::Resolve);
    waker.resume_when(*kept, WakeRule::Resolve);
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

// A cancelled wait; the clean-up fires what was waited for.
void clean_up_after_cancel(sim::World& world) {
  const auto source = make_event(false);
  Coroutine<> waiter;
  const auto canceller = spawn("canceller", [&] { waiter.cancel(); });
  waiter = spawn("waiter", [&] {
    try {
      wait_until_closed(*source);
    } catch (const Cancellation&) {
      source->complete();
      const Waker& waker = current_coroutine().waker();
      if (waker.status != WakerStatus::None || !waker.empty()) {
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

// Two owners stop one timer, while another coroutine waits for something real.
void stopped_twice(sim::World& world) {
  const auto timer = make_timer(current_runtime(), milliseconds(50));
  bool started = false;
  const auto reader = spawn("reader", [] { delay(milliseconds(100)); });
  const auto owner = spawn("owner", [&] {
    timer->start();
    started = true;
    suspend();
    timer->stop();
    started = false;
  });
  const auto other = spawn("other", [&] {
    suspend();
    suspend();
    if (!started) return;
    suspend();
    const std::size_t active = current_runtime().active_event_count();
    const std::size_t counted = timer->loop_ref_count();
    timer->stop();
    if (current_runtime().active_event_count() != active - counted) {
      complain(world, "STOP (CORE-EV-04): a stop without a start has changed what is active");
    }
  });
  await(owner);
  await(other);
  await(reader);
}

// Computing, and then sleeping.
void compute_and_sleep(sim::World& world) {
  await(spawn("sleeper", [&] {
    sim::consume(milliseconds(50));
    const Instant due = now() + milliseconds(20);
    delay(milliseconds(20));
    if (now() < due) {
      complain(world, "TIME (TMR-01): a sleep of 20 ms ended " +
                          std::to_string((due - now()).count()) + " ns early");
    }
  }));
}

const std::vector<Workload>& catalogue() {
  static const std::vector<Workload> all = {
      {"Z-CB-01",
       "removing a subscriber during notify skips the next one",
       1,
       {"WAKE", "DL-", "CORE-CB-01"},
       &broadcast},
      {"Z-CB-03",
       "nested notify on the same event is dropped",
       2,
       {"WAKE", "ERR", "CORE-CB-10"},
       &close_inside_callback},
      {"Z-CB-04",
       "a throwing callback aborts the broadcast",
       1,
       {"WAKE", "ERR", "CORE-CB-09"},
       &throwing_subscriber},
      {"Z-WK-01",
       "double stop of a shared event kills the siblings' wait",
       2,
       {"STOP", "WAKE", "DL-", "CORE-EV-02", "CORE-EV-01", "CORE-WK-06"},
       &shared_event},
      {"Z-WK-02",
       "condition already satisfied by replay, yet the coroutine parks",
       1,
       {"WAKE", "DL+", "CORE-EV-13", "CORE-WK-03", "CORE-GL-01"},
       &any_of_two},
      {"Z-WK-04",
       "error path of suspend forgets to clean the waker",
       2,
       {"ONCE", "UAF", "CORE-WK-09", "CORE-WK-03", "CORE-GL-02"},
       &clean_up_after_cancel},
      {"Z-DL-01",
       "active-event counter underflow: live I/O declared deadlocked",
       2,
       {"STOP", "DL+", "CORE-EV-01", "CORE-EV-04"},
       &stopped_twice},
      {"Z-TM-01",
       "deadline computed from a stale loop clock",
       1,
       {"TIME", "TMR-01"},
       &compute_and_sleep},
  };
  return all;
}

}  // namespace

std::span<const Workload> workloads() { return catalogue(); }

sim::Program exploration_of(const Workload& workload) {
  const auto bystanders = std::make_shared<Bystanders>();
  sim::Program exploration;
  exploration.prepare = [bystanders](const sim::Preparation& preparation) {
    bystanders->prepare(preparation.seed);
  };
  exploration.body = [bystanders, &workload](sim::World& world) {
    const auto running = bystanders->spawn_all();
    workload.body(world);
    const models::Complaint complaint = bystanders->join(running);
    if (!complaint.empty()) world.fail(sim::Verdict::Safety, complaint);
  };
  exploration.arguments = [bystanders] {
    return std::to_string(bystanders->count()) + " bystanders";
  };
  return exploration;
}

bool is_about(const Workload& workload, std::string_view message) {
  for (const std::string_view broken : workload.breaks) {
    if (message.find(broken) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace fermata::properties::zoo
