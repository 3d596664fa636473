// SPDX-License-Identifier: Apache-2.0

// Scopes, groups and iterations: nobody of them is left behind, and the next one can be served.

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "properties/sweeps/programs.hpp"

namespace fermata::properties::sweeps {

using namespace std::chrono_literals;

void scope(sim::World& world) {
  Scope workers = Scope::detached("workers");
  int inside = 0;
  int worked = 0;
  const auto work = [&] {
    const Inside count(inside);
    delay(1ms);
    suspend();
    ++worked;
  };
  world.sweep_cancellation(
      [&] {
        for (int i = 0; i < 3; ++i) workers.spawn("member", work);
        workers.await_completion(kPatient);
      },
      {.then = finds_all(world, "CORE-SP-03",
                         [&] {
                           EXPECT_TRUE(workers.is_finished()) << "CORE-SP-01: " << workers.info();
                           worked = 0;
                           workers.spawn("another member", work);
                           workers.await_completion(kPatient);
                           EXPECT_EQ(worked, 1) << "CORE-SP-03 (WAKE): " << workers.info();
                         }),
       .check = [&] { EXPECT_EQ(inside, 0) << "CORE-SP-01 (REF): " << workers.info(); }});
  workers.cancel();
  EXPECT_TRUE(workers.is_closed());
}

void task_group(sim::World& world) {
  std::optional<TaskGroup<int>> group;
  int inside = 0;
  std::size_t accepted = 0;
  const auto add = [&](int number) {
    group->spawn(
        [&, number] {
          const Inside count(inside);
          EXPECT_LE(inside, 2) << "TG-01";
          delay(1ms);
          return number;
        },
        kPatient);
    ++accepted;
  };
  world.sweep_cancellation(
      [&] {
        group.emplace("group", TaskGroupOptions{.concurrency = 2, .queue_limit = 1});
        accepted = 0;
        for (int i = 0; i < 4; ++i) add(i);
        await(group->all(true), kPatient);
      },
      {.then = finds_all(world, "TG-14",
                         [&] {
                           for (int i = 0; i < 4; ++i) add(i);
                           await(group->all(true), kPatient);
                           group->close();
                           group->await_completion(kPatient);
                           const std::size_t settled =
                               group->results().size() + group->errors().size();
                           EXPECT_EQ(settled, accepted) << "TG-03 (ONCE): " << group->info();
                         }),
       .check = [&] { EXPECT_EQ(inside, 0) << "TG-18 (REF): a task was left behind"; }});
}

void task_set(sim::World& world) {
  std::optional<TaskSet<int>> set;
  std::multiset<int> delivered;
  const auto join = [&] {
    if (const auto next = set->next(kPatient)) delivered.insert(next->value.value_or(-1));
  };
  world.sweep_cancellation(
      [&] {
        set.emplace("set");
        delivered.clear();
        for (int i = 0; i < 3; ++i) {
          set->spawn([i] {
            delay(std::chrono::milliseconds(i));
            return i;
          });
        }
        std::vector<Coroutine<>> consumers;
        for (int i = 0; i < 3; ++i) consumers.push_back(spawn("consumer", join));
        when_all_settled(consumers);
      },
      {.then = finds_all(world, "TG-15", [&] {
         const std::size_t owed = set->count();
         const std::size_t had = delivered.size();
         for (std::size_t i = 0; i < owed; ++i) join();
         EXPECT_EQ(delivered.size(), had + owed) << "TG-15 (WAKE): " << set->info();
         for (int i = 0; i < 3; ++i) {
           EXPECT_LE(delivered.count(i), 1u) << "TG-15 (ONCE): task " << i;
         }
         set->close();
         EXPECT_FALSE(set->next(kPatient)) << "TG-15 (ONCE): " << set->info();
       })});
}

void iteration(sim::World& world) {
  int inside = 0;
  Channel<int> jobs("jobs", 8);
  std::multiset<int> seen;
  int taken = 0;
  const auto work_off = [&] {
    iterate(jobs,
            [&](int job) {
              seen.insert(job);
              const Inside count(inside);
              EXPECT_LE(inside, 2) << "CORE-IT-02";
              delay(1ms);
            },
            {.concurrency = 2});
    EXPECT_EQ(inside, 0) << "CORE-IT-05 (REF)";
  };
  world.sweep_cancellation(
      [&] {
        jobs = Channel<int>("jobs", 8);
        seen.clear();
        for (int job = 0; job < 4; ++job) jobs.send(job);
        taken = 4;
        jobs.close();
        work_off();
      },
      {.then = finds_all(world, "CORE-IT-01",
                         [&] {
                           work_off();
                           EXPECT_EQ(static_cast<int>(seen.size()), taken)
                               << "CORE-IT-01 (WAKE): a job was lost";
                           for (const int job : seen) {
                             EXPECT_EQ(seen.count(job), 1u) << "CORE-IT-01 (ONCE): job " << job;
                           }
                         }),
       .check = [&] { EXPECT_EQ(inside, 0) << "CORE-IT-10 (REF): a callback is left"; }});
}

}  // namespace fermata::properties::sweeps
