// SPDX-License-Identifier: Apache-2.0
#pragma once

// Programs with a bug in the order of things, each as it was and after any of twenty everyday
// edits. None of the edits mends the bug.

#include <gtest/gtest.h>
#include <fermata/runtime.hpp>
#include <fermata/sim.hpp>

#include <array>
#include <chrono>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

namespace fermata::testing {

enum class Edit {
  None,
  RenamedFirst,
  RenamedSecond,
  RenamedBystander,
  AddedLog,
  AddedYieldInBystander,
  AddedYieldBefore,
  AddedYieldAfter,
  AddedYieldInMain,
  AddedCoroutineBefore,
  AddedCoroutineBetween,
  AddedCoroutineAfter,
  AddedChild,
  RemovedBystander,
  ReorderedBystanders,
  ExtractedFunction,
  AddedTimer,
  AddedLock,
  RenamedObject,
  AddedDraw,
  AddedMachine,
};
constexpr int kEdits = static_cast<int>(Edit::AddedMachine);

/// What the bug is surrounded by, and the two coroutines that have it.
class Surroundings {
 public:
  Surroundings(sim::World& world, Edit edit) : edit_(edit) {
    using namespace std::chrono_literals;
    if (is(Edit::AddedMachine)) world.node("other", [] { delay(1ms); });
    if (is(Edit::AddedCoroutineBefore)) keep("early", [] { suspend(); });
    const bool swapped = is(Edit::ReorderedBystanders);
    const std::string one = is(Edit::RenamedBystander) ? "logger" : "metrics";
    keep(swapped ? "cache" : one, [this] { bystander(); });
    if (!is(Edit::RemovedBystander)) keep(swapped ? one : "cache", [this] { bystander(); });
    if (is(Edit::AddedYieldInMain)) suspend();
  }

  [[nodiscard]] bool is(Edit edit) const noexcept { return edit_ == edit; }
  [[nodiscard]] std::string first() const { return is(Edit::RenamedFirst) ? "alpha" : "first"; }
  [[nodiscard]] std::string second() const { return is(Edit::RenamedSecond) ? "beta" : "second"; }
  [[nodiscard]] std::string object() const { return is(Edit::RenamedObject) ? "gate" : "door"; }

  /// At the beginning, at the end, and between the spawns of the two.
  void before() const {
    if (is(Edit::AddedLog)) std::puts("begins");
    if (is(Edit::AddedYieldBefore)) suspend();
    if (is(Edit::AddedChild)) await(spawn("child", [] {}));
    if (is(Edit::AddedDraw)) static_cast<void>(fermata::random(10));
  }
  void after() const {
    if (is(Edit::AddedYieldAfter)) suspend();
  }
  void between() {
    if (is(Edit::AddedCoroutineBetween)) keep("between", [] { suspend(); });
  }

  void join() {
    if (is(Edit::AddedCoroutineAfter)) keep("late", [] { suspend(); });
    for (const Coroutine<>& each : others_) await(each);
  }

 private:
  template <class F>
  void keep(const std::string& name, F body) {
    others_.push_back(spawn(name, std::move(body)));
  }

  void bystander() const {
    using namespace std::chrono_literals;
    Mutex mutex("mine");
    for (int i = 0; i < 2; ++i) {
      if (is(Edit::AddedTimer)) delay(1us);
      if (is(Edit::AddedLock)) {
        const Mutex::Guard guard(mutex);
        suspend();
      }
      suspend();
      if (is(Edit::AddedYieldInBystander)) suspend();
    }
  }

  Edit edit_;
  std::vector<Coroutine<>> others_;
};

/// Reads, waits, and writes back what it has made of the old value.
inline void lost_update_edited(sim::World& world, Edit edit) {
  Surroundings around(world, edit);
  int balance = 0;
  const auto later = [&](int seen) { balance = seen + 1; };
  const auto deposit = [&] {
    around.before();
    const int seen = balance;
    suspend();
    if (around.is(Edit::ExtractedFunction)) {
      later(seen);
    } else {
      balance = seen + 1;
    }
    around.after();
  };
  auto one = spawn(around.first(), deposit);
  suspend();
  suspend();
  suspend();
  around.between();
  auto other = spawn(around.second(), deposit);
  await(one);
  await(other);
  around.join();
  EXPECT_EQ(balance, 2);
}

/// Two locks, taken in two orders.
inline void two_locks_edited(sim::World& world, Edit edit) {
  Surroundings around(world, edit);
  Mutex door(around.object());
  Mutex window("window");
  const auto both = [&](Mutex& outer, Mutex& inner) {
    around.before();
    const Mutex::Guard first(outer);
    suspend();
    const Mutex::Guard second(inner);
    around.after();
  };
  auto one = spawn(around.first(), [&] { both(door, window); });
  suspend();
  suspend();
  suspend();
  around.between();
  auto other = spawn(around.second(), [&] { both(window, door); });
  await(one);
  await(other);
  around.join();
}

/// Looks whether a name is free, and takes it after a wait.
inline void check_then_act_edited(sim::World& world, Edit edit) {
  Surroundings around(world, edit);
  std::multiset<std::string> names;
  const auto look = [&] { return names.count("root") == 0; };
  const auto create = [&] {
    around.before();
    const bool free = around.is(Edit::ExtractedFunction) ? look() : names.count("root") == 0;
    if (!free) return;
    suspend();
    suspend();
    names.insert("root");
    around.after();
  };
  auto one = spawn(around.first(), create);
  suspend();
  suspend();
  suspend();
  suspend();
  around.between();
  auto other = spawn(around.second(), create);
  await(one);
  await(other);
  around.join();
  EXPECT_EQ(names.size(), 1u);
}

/// A reader that closes the channel while a value is still under way.
inline void early_close_edited(sim::World& world, Edit edit) {
  Surroundings around(world, edit);
  Channel<int> channel(around.object(), around.is(Edit::ExtractedFunction) ? 2 : 1);
  int received = 0;
  auto reader = spawn(around.first(), [&] {
    around.before();
    while (channel.next()) ++received;
    around.after();
  });
  suspend();
  around.between();
  auto writer = spawn(around.second(), [&] {
    for (int i = 0; i < 3; ++i) {
      if (!channel.is_closed()) channel.send(i);
      suspend();
    }
  });
  for (int i = 0; i < 6; ++i) suspend();
  channel.close();
  await(writer);
  await(reader);
  around.join();
  EXPECT_EQ(received, 3);
}

struct EditedProgram {
  const char* name;
  void (*run)(sim::World& world, Edit edit);
};
constexpr std::array kEditedPrograms = {
    EditedProgram{"lost update", lost_update_edited},
    EditedProgram{"two locks", two_locks_edited},
    EditedProgram{"check then act", check_then_act_edited},
    EditedProgram{"early close", early_close_edited},
};

}  // namespace fermata::testing
