// SPDX-License-Identifier: Apache-2.0

// The event loop of callbacks (Z-EL).

#include <string>

#include "fermata/loop/loop.hpp"
#include "fermata/runtime.hpp"
#include "properties/loop/ledger.hpp"
#include "properties/zoo/scene.hpp"
#include "properties/zoo/workload.hpp"

namespace fermata::properties::zoo {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

void expect_order(sim::World& world, const std::string& order, const std::string& expected) {
  if (order == expected) return;
  complain(world, "LOOP (ORDER): expected the calls " + expected + ", got " + order);
}

// The first of two deferred callbacks stops the loop; the second is ready as well.
FERMATA_WORKLOAD(stop_in_a_tick, "Z-EL-01", 1, "ORDER", "MODEL") {
  loop::Loop loop;
  std::string order;
  loop.defer([&] {
    order += 'a';
    loop.stop();
  });
  loop.defer([&] { order += 'b'; });
  loop.run();
  expect_order(world, order, "ab");
}

// A deferred callback defers another one, in the last tick.
FERMATA_WORKLOAD(defer_in_a_defer, "Z-EL-02", 1, "ORDER", "MODEL") {
  loop::Loop loop;
  std::string order;
  loop.defer([&] {
    order += 'a';
    loop.defer([&] { order += 'b'; });
    loop.stop();
  });
  loop.run();
  expect_order(world, order, "a");
}

// A microtask that is queued by the first of two ready callbacks.
FERMATA_WORKLOAD(microtask_between, "Z-EL-03", 1, "ORDER", "MODEL") {
  loop::Loop loop;
  std::string order;
  loop.defer([&] {
    order += 'a';
    loop.queue([&] { order += 'm'; });
  });
  loop.defer([&] { order += 'b'; });
  loop.run();
  expect_order(world, order, "amb");
}

// The only callback is disabled and then not referenced any more.
FERMATA_WORKLOAD(disabled_and_unreferenced, "Z-EL-04", 1, "LIVE", "MODEL") {
  loop::Loop loop;
  const loop::CallbackId id = loop.on_notice([] {});
  loop.disable(id);
  loop.unreference(id);
  loop.unreference(loop.delay(seconds(1), [&] { loop.stop(); }));
  if (loop.run().stopped) complain(world, "LOOP (LIVE): it ran on though nothing keeps it alive");
}

// A repeating callback takes longer than its interval, asleep.
FERMATA_WORKLOAD(slow_repeat, "Z-EL-05", 1, "MASK", "MODEL") {
  loop::Loop loop;
  int calls = 0;
  int inside = 0;
  loop.repeat(milliseconds(1), [&](loop::CallbackId id) {
    if (++inside > 1) complain(world, "LOOP (MASK): it is called again while a call is suspended");
    if (++calls == 3) loop.cancel(id);
    delay(milliseconds(5));
    --inside;
  });
  loop.run();
  while (inside > 0) delay(milliseconds(5));
}

// Somebody resumes a callback twice before it runs.
FERMATA_WORKLOAD(resumed_twice, "Z-EL-06", 1, "ONCE", "MODEL") {
  loop::Loop loop;
  loop::Suspension suspension;
  loop.defer([&] {
    suspension = loop.suspension();
    suspension.suspend();
  });
  loop.defer([&] {
    suspension.resume();
    try {
      suspension.resume();
      complain(world, "LOOP (ONCE): a second resumption was taken");
    } catch (const loop::SuspensionError&) {
    }
  });
  loop.run();
}

// A callback is cancelled in its sleep, and the loop runs again.
FERMATA_WORKLOAD(cancelled_in_its_sleep, "Z-EL-09", 1, "MASK") {
  loop::Loop loop;
  int calls = 0;
  Ref<CoroutineBase> sleeper;
  loop.repeat(milliseconds(1), [&](loop::CallbackId) {
    ++calls;
    sleeper = Ref<CoroutineBase>::share(*current_runtime().current());
    delay(milliseconds(50));
  });
  const auto run = [&] {
    calls = 0;
    loop.delay(milliseconds(3), [&](loop::CallbackId) { loop.stop(); });
    loop.run();
    if (calls == 0) return;
    sleeper->cancel();
    while (!loop.suspended().empty()) delay(milliseconds(1));
  };
  run();
  run();
  if (calls == 0) {
    complain(world, "LOOP (MASK): a callback that was cancelled is never called again");
  }
}

// The ledger of everything that a loop of connections sends and gets.
FERMATA_WORKLOAD(short_writes, "Z-EL-07", 1, "LEDGER") { keep_ledger(world); }
FERMATA_WORKLOAD(drained_queues, "Z-EL-08", 1, "LEDGER") { keep_ledger(world); }

}  // namespace

}  // namespace fermata::properties::zoo
