// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "properties/sweeps/programs.hpp"

namespace fermata::properties::sweeps {

using namespace std::chrono_literals;

namespace {

/// Gives permits back.
class Permits {
 public:
  Permits(Semaphore& semaphore, std::size_t count) : semaphore_(semaphore), count_(count) {}
  Permits(const Permits&) = delete;
  Permits& operator=(const Permits&) = delete;
  ~Permits() { semaphore_.release(count_); }

 private:
  Semaphore& semaphore_;
  std::size_t count_;
};

}  // namespace

void mutex(sim::World& world) {
  Mutex mutex("mutex");
  int inside = 0;
  world.sweep_cancellation(
      [&] {
        std::vector<Coroutine<>> all;
        for (int i = 0; i < 3; ++i) {
          all.push_back(spawn("user", [&] {
            const Mutex::Guard guard(mutex, kPatient);
            const Inside count(inside);
            EXPECT_EQ(inside, 1);
            suspend();
          }));
        }
        when_all_settled(all);
      },
      {.then = finds_all(world, "G-04", [&] { const Mutex::Guard guard(mutex, kPatient); }),
       .check = [&] { EXPECT_FALSE(mutex.is_locked()) << "G-04 (REF): " << mutex.info(); }});
}

void file_lock(sim::World& world) {
  world.heal();
  std::array<File, 3> files;
  for (File& each : files) each = File::open("locked", OpenMode::updating());
  int inside = 0;
  world.sweep_cancellation(
      [&] {
        std::vector<Coroutine<>> all;
        for (File& each : files) {
          all.push_back(spawn("user", [&] {
            const FileLock lock = each.lock(kPatient);
            const Inside count(inside);
            EXPECT_EQ(inside, 1);
            suspend();
          }));
        }
        when_all_settled(all);
      },
      {.then = finds_all(world, "CORE-WK-13", [&] {
         for (File& each : files) EXPECT_TRUE(each.lock(kPatient).owns_lock());
       })});
}

void semaphore(sim::World& world) {
  Semaphore slots("slots", 2);
  int inside = 0;
  world.sweep_cancellation(
      [&] {
        std::vector<Coroutine<>> all;
        for (std::size_t wanted : {1u, 2u, 1u}) {
          all.push_back(spawn("user", [&, wanted] {
            slots.acquire(wanted, kPatient);
            const Permits permits(slots, wanted);
            const Inside count(inside);
            EXPECT_LE(inside, 2);
            suspend();
          }));
        }
        when_all_settled(all);
      },
      {.then = finds_all(world, "CORE-WK-13",
                         [&] {
                           slots.acquire(2, kPatient);
                           const Permits permits(slots, 2);
                           suspend();
                         }),
       .check = [&] { EXPECT_EQ(slots.available(), 2u) << "G-04 (REF): " << slots.info(); }});
}

void condition(sim::World& world) {
  Mutex mutex("mutex");
  Condition changed("changed");
  int state = 0;
  const auto wait_for_change = [&] {
    const Mutex::Guard guard(mutex, kPatient);
    changed.wait(
        mutex, [&] { return state > 0; }, kPatient);
    EXPECT_TRUE(mutex.is_held_by_caller());
    --state;
  };
  const auto change = [&] {
    const Mutex::Guard guard(mutex, kPatient);
    ++state;
    changed.notify_one();
  };
  const auto expect_no_notify = [&] {
    const Mutex::Guard guard(mutex, kPatient);
    try {
      changed.wait(mutex, {.timeout = 1ms});
      ADD_FAILURE() << "ONCE: a condition has kept a notify for who comes next";
    } catch (const Timeout&) {
    }
  };
  world.sweep_cancellation(
      [&] {
        state = 0;
        std::vector<Coroutine<>> waiters;
        for (int i = 0; i < 2; ++i) waiters.push_back(spawn("waiter", wait_for_change));
        for (int i = 0; i < 2; ++i) change();
        when_all_settled(waiters);
      },
      {.then = finds_all(world, "G-03",
                         [&] {
                           expect_no_notify();
                           state = 0;
                           const auto waiter = spawn("waiter", wait_for_change);
                           suspend();
                           change();
                           await(waiter);
                         }),
       .check = [&] { EXPECT_FALSE(mutex.is_locked()) << "G-04 (REF): " << mutex.info(); }});
}

void barrier(sim::World& world) {
  Barrier barrier("start", 3);
  int passed = 0;
  const auto meet = [&] {
    std::vector<Coroutine<>> parties;
    for (int i = 0; i < 3; ++i) {
      parties.push_back(spawn("party", [&] {
        try {
          barrier.arrive_and_wait(kPatient);
          ++passed;
        } catch (const BrokenBarrier&) {
        }
      }));
    }
    when_all_settled(parties);
  };
  world.sweep_cancellation(meet, {.then = finds_all(world, "G-03", [&] {
                                    EXPECT_EQ(barrier.arrived(), 0u)
                                        << "G-04 (REF): " << barrier.info();
                                    if (barrier.is_broken()) barrier.reset();
                                    passed = 0;
                                    meet();
                                    EXPECT_EQ(passed, 3) << "G-03 (WAKE): " << barrier.info();
                                  })});
}

void once(sim::World& world) {
  std::optional<Once> schema;
  int made = 0;
  const auto make = [&] {
    delay(1ms);
    ++made;
  };
  world.sweep_cancellation(
      [&] {
        schema.emplace("schema");
        made = 0;
        std::vector<Coroutine<>> all;
        for (int i = 0; i < 3; ++i) {
          all.push_back(spawn("caller", [&] { schema->call(make, kPatient); }));
        }
        when_all_settled(all);
      },
      {.then = finds_all(world, "G-04", [&] { schema->call(make, kPatient); }),
       .check = [&] { EXPECT_EQ(made, 1) << "ONCE: " << schema->info(); }});
}

}  // namespace fermata::properties::sweeps
