// SPDX-License-Identifier: Apache-2.0

// Timers and virtual time (Z-TM).

#include "fermata/runtime.hpp"
#include "properties/zoo/scene.hpp"
#include "properties/zoo/workload.hpp"

namespace fermata::properties::zoo {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Computing, and then sleeping.
FERMATA_WORKLOAD(compute_and_sleep, "Z-TM-01", 1, "TIME", "TMR-01") {
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

// A timer is armed again as soon as it fires, for no time at all, as long as somebody else works.
FERMATA_WORKLOAD(no_time_again_and_again, "Z-TM-02", 1, "livelock", "FAIR", "SHUT") {
  const auto timer = make_timer(current_runtime(), Duration::zero(), TimerMode::Multishot);
  bool works = true;
  const auto again = subscribe(*timer, [&](Event&, const Outcome&) {
    if (works) timer->rearm(Duration::zero());
  });
  timer->start();
  await(spawn("worker", [&] {
    for (int i = 0; i < 100; ++i) suspend();
    works = false;
  }));
}

// Two timers are due at once, and whoever hears of the first stops the other.
FERMATA_WORKLOAD(stop_what_is_due, "Z-TM-03", 2, "TIME", "TMR-03", "CORE-EV-16") {
  const auto stopper = make_timer(current_runtime(), milliseconds(10));
  const auto stopped = make_timer(current_runtime(), milliseconds(10));
  bool must_not_fire = false;
  const auto stop = subscribe(*stopper, [&](Event&, const Outcome&) {
    must_not_fire = stopped->loop_ref_count() > 0;
    stopped->stop();
  });
  const auto hear = subscribe(*stopped, [&](Event&, const Outcome&) {
    if (must_not_fire) complain(world, "TIME (TMR-03): a timer fired after it was stopped");
  });
  const auto second = spawn("second", [&] { stopped->start(); });
  const auto first = spawn("first", [&] { stopper->start(); });
  await(second);
  await(first);
  delay(milliseconds(20));
}

/// Later than faults make a timer.
constexpr Duration kVeryLate = milliseconds(200);

[[nodiscard]] bool paused(const sim::World& world) {
  return world.fault_counts()[static_cast<std::size_t>(sim::Fault::Pause)] > 0;
}

void sleep_and_check(sim::World& world, Duration span) {
  const Instant due = now() + span;
  delay(span);
  if (now() > due + kVeryLate && !paused(world))
    complain(world, "TIME (TMR-01): a timer fired far too late");
}

// Short sleeps begin while the loop is to wait for a long one.
FERMATA_WORKLOAD(short_after_long, "Z-TM-04", 1, "TIME", "TMR-01") {
  const auto long_sleeper = spawn("long", [&] { sleep_and_check(world, seconds(10)); });
  const auto short_sleeper = spawn("short", [&] {
    for (int i = 0; i < 20; ++i) {
      offload([] {});
      sleep_and_check(world, milliseconds(10));
    }
  });
  await(short_sleeper);
  await(long_sleeper);
}

// Work on another thread, with a timeout that is far away.
FERMATA_WORKLOAD(work_with_a_timeout, "Z-TM-06", 1, "TIME", "CANC") {
  for (int i = 0; i < 40; ++i) {
    const Instant start = now();
    try {
      offload([] {}, {.timeout = seconds(100)});
    } catch (const Timeout&) {
    }
    if (now() > start + seconds(1) && !paused(world)) {
      complain(world, "TIME: the clock ran ahead of a worker that was busy for a moment");
    }
  }
}

// Ten short sleeps take as long as ten short sleeps.
FERMATA_WORKLOAD(many_naps, "Z-TM-07", 1, "TIME", "TMR-01") {
  for (int i = 0; i < 10; ++i) sleep_and_check(world, milliseconds(10));
}

FERMATA_WORKLOAD(many_at_once, "Z-TM-08", 1, "TIME", "TMR-04") {
  std::vector<Ref<Timer>> timers;
  std::vector<Subscription> subscriptions;
  std::size_t fired = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    timers.push_back(make_timer(current_runtime(), milliseconds(10)));
    subscriptions.push_back(subscribe(*timers.back(), [&world, &fired, i](Event&, const Outcome&) {
      if (fired++ != i) complain(world, "TIME (TMR-04): equal deadlines fire out of order");
    }));
    timers.back()->start();
  }
  delay(milliseconds(20));
}

// A deadline passes while nobody waits for it; then it is given to a wait as its token.
FERMATA_WORKLOAD(deadline_that_has_passed, "Z-TM-09", 1, "WAKE", "CORE-CN-07", "CORE-CN-09") {
  const auto deadline = make_timeout(milliseconds(5));
  const auto promise = make_event(true);
  bool waits = false;
  const auto waiter = spawn("waiter", [&] {
    delay(milliseconds(10));
    waits = true;
    try {
      wait(*promise, {.token = deadline.get()});
    } catch (const OperationCancelled&) {
    }
  });
  delay(milliseconds(50));
  if (waits && sleeps(waiter)) {
    complain(world, "WAKE (CORE-CN-07): a deadline has passed, and the wait that it ends goes on");
  }
  promise->complete();
  await(waiter);
}

// An answer comes before the deadline, and time passes before whoever waited has its turn.
FERMATA_WORKLOAD(answered_in_time, "Z-TM-10", 1, "TIME", "CORE-WK-07") {
  const auto promise = make_event(true);
  bool answered = false;
  const auto waiter = spawn("waiter", [&] {
    try {
      wait(*promise, {.timeout = milliseconds(3)});
    } catch (const Timeout&) {
      if (answered) complain(world, "TIME (CORE-WK-07): an answer in time has become a timeout");
    }
  });
  for (int i = 0; i < 3; ++i) suspend();
  answered = sleeps(waiter);
  promise->complete();
  await(waiter);
}

// Many timers, some of which are stopped: enough for a heap of three levels.
void stop_some_of_many(sim::World& world) {
  std::vector<Ref<Timer>> timers;
  for (int i = 0; i < 60; ++i) {
    timers.push_back(make_timer(current_runtime(), milliseconds(1 + random(40))));
    timers.back()->start();
  }
  Instant latest = now();
  std::vector<Subscription> hears;
  for (const Ref<Timer>& each : timers) {
    const Instant due = now() + each->timeout();
    hears.push_back(subscribe(*each, [&, due](Event&, const Outcome&) {
      if (due < latest) complain(world, "TIME (TMR-04): a timer fired after a later one");
      latest = due;
    }));
  }
  for (int i = 0; i < 20; ++i) {
    const Ref<Timer>& stopped = timers[random(timers.size())];
    if (stopped->loop_ref_count() > 0) stopped->stop();
  }
  delay(milliseconds(50));
}

FERMATA_WORKLOAD(fills_a_hole_above, "Z-TM-11", 1, "TIME", "TMR-04") { stop_some_of_many(world); }

FERMATA_WORKLOAD(fills_a_hole_elsewhere, "Z-TM-12", 1, "TIME", "TMR-04") {
  stop_some_of_many(world);
}

}  // namespace

}  // namespace fermata::properties::zoo
