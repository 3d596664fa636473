// SPDX-License-Identifier: Apache-2.0

// Callbacks and references (Z-CB).

#include "fermata/runtime/runtime.hpp"
#include "properties/zoo/scene.hpp"
#include "properties/zoo/workload.hpp"

namespace fermata::properties::zoo {
namespace {

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

}  // namespace

std::vector<Workload> callback_workloads() {
  return {
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
  };
}

}  // namespace fermata::properties::zoo
