// SPDX-License-Identifier: Apache-2.0

// Scopes, groups and shutdown (Z-SC), and what a cancellation before the start counts (Z-CN-04).

#include <memory>

#include "fermata/runtime.hpp"
#include "properties/zoo/scene.hpp"
#include "properties/zoo/workload.hpp"

namespace fermata::properties::zoo {
namespace {

using std::chrono::milliseconds;

// A safe scope is cancelled while a member sleeps; somebody waits until it is empty.
FERMATA_WORKLOAD(last_member_is_a_zombie, "Z-SC-02", 1, "WAKE", "CORE-SP-02", "CORE-SP-14") {
  Scope part = Scope::detached("part");
  part.set_started_members(StartedMembers::LetRun);
  bool started = false;
  const auto member = part.spawn("member", [&] {
    started = true;
    delay(milliseconds(5));
  });
  while (!started) suspend();
  part.cancel();
  const auto waiter = spawn("waiter", [&] { part.await_after_cancellation(); });
  delay(milliseconds(50));
  if (member->is_closed() && sleeps(waiter)) {
    complain(world, "WAKE (CORE-SP-14): the last zombie has ended, and nobody was told");
  }
  cancelled_or_done(waiter);
}

// A task returns while a child of its own scope is still at work on what belongs to the task.
FERMATA_WORKLOAD(child_outlives_its_task, "Z-SC-05", 1, "SHUT", "ISO", "CORE-SP-04") {
  bool at_work = true;
  await(spawn("task", [&] {
    const Scope part = Scope::detached("part");
    part.spawn("child", [&] {
      for (int i = 0; i < 3; ++i) {
        suspend();
        if (!at_work) complain(world, "SHUT (CORE-SP-04): a child runs on when its scope is gone");
      }
    });
    suspend();
    at_work = false;
  }));
  delay(milliseconds(5));
}

// A shutdown cancels everybody; what one of them does about it starts something new.
FERMATA_WORKLOAD(spawned_in_a_shutdown, "Z-SC-06", 2, "SHUT", "CORE-SC-13") {
  const auto stopper = spawn("stopper", [] { shutdown(); });
  const auto parked = spawn("parked", [&] {
    try {
      delay(milliseconds(100));
    } catch (const Cancellation&) {
      spawn("late",
            [&] { complain(world, "SHUT (CORE-SC-13): what was spawned in a shutdown runs on"); });
      throw;
    }
  });
  cancelled_or_done(stopper);
  cancelled_or_done(parked);
}

// What a task has captured closes the set at its end, and a consumer waits for the task.
FERMATA_WORKLOAD(closed_by_the_end_of_a_body, "Z-SC-08", 1, "VAL", "TG-03", "TG-17") {
  const auto set = std::make_shared<TaskSet<int>>();
  set->spawn([closes = std::shared_ptr<void>(nullptr, [set](void*) { set->close(); })] {
    delay(milliseconds(1));
    return 1;
  });
  if (!set->next()) complain(world, "VAL (TG-17): nothing comes of a task that has returned");
}

// The owner of a scope leaves its block while a member still cleans up with what is in the block.
FERMATA_WORKLOAD(member_uses_a_local, "Z-SC-09", 1, "SHUT", "CORE-SP-03") {
  await(spawn("owner", [&] {
    auto is_there = std::make_shared<bool>(true);
    const std::shared_ptr<void> local(nullptr, [is_there](void*) { *is_there = false; });
    const Scope part("part");
    part.spawn("member", [&world, is_there] {
      try {
        delay(milliseconds(10));
      } catch (const Cancellation&) {
        protect([] { delay(milliseconds(1)); });
        if (!*is_there) complain(world, "SHUT (CORE-SP-03): a member runs when its scope has gone");
        throw;
      }
    });
    delay(milliseconds(1));
  }));
  delay(milliseconds(5));
}

// What a scope does last takes its time, and its owner goes on when the members have ended.
FERMATA_WORKLOAD(scope_ends_late, "Z-SC-10", 1, "SHUT", "CORE-SP-10") {
  auto has_ended = std::make_shared<bool>(false);
  {
    const Scope part("part");
    part.finally([has_ended](ScopeBase&) {
      delay(milliseconds(1));
      *has_ended = true;
    });
    part.spawn("member", [] { delay(milliseconds(10)); });
    delay(milliseconds(1));
  }
  if (!*has_ended) {
    complain(world, "SHUT (CORE-SP-10): a scope is gone, and what it does last is not done");
  }
  delay(milliseconds(5));
}

// A strategy sends what is spawned to a scope that takes nothing.
FERMATA_WORKLOAD(told_of_no_spawn, "Z-SC-11", 1, "SPAWN") {
  struct Counts final : backend::SpawnStrategy {
    explicit Counts(ScopeBase& to) : other(to) {}
    ScopeBase& provide_scope(CoroutineBase&, ScopeBase&) override { return other; }
    void before_spawn(CoroutineBase&, ScopeBase&) override { ++begun; }
    void after_spawn(CoroutineBase&, ScopeBase&) override { --begun; }
    ScopeBase& other;
    int begun = 0;
  };
  const Scope part("part");
  const Scope other("other");
  const auto strategy = std::make_shared<Counts>(*other);
  part.set_spawn_strategy(strategy);
  await(part.spawn("first", [] { suspend(); }));
  other.cancel();
  try {
    part.spawn("second", [] {});
  } catch (const UsageError&) {
  }
  if (strategy->begun != 0) {
    complain(world, "SPAWN (ONCE): a strategy is told of a spawn that does not happen");
  }
}

// One of two is cancelled before it has started.
FERMATA_WORKLOAD(cancelled_before_its_start, "Z-CN-04", 1, "CAP", "REF", "DL", "CORE-CO-12",
                 "CORE-SP-01") {
  const auto first = spawn("first", [] { suspend(); });
  const auto second = spawn("second", [] { suspend(); });
  first.cancel();
  cancelled_or_done(first);
  await(second);
}

}  // namespace

}  // namespace fermata::properties::zoo
