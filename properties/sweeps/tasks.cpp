// SPDX-License-Identifier: Apache-2.0

// Tasks of the language, and code under limits: whoever is interrupted leaves nothing behind.

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "properties/sweeps/programs.hpp"

namespace fermata::properties::sweeps {

using namespace std::chrono_literals;

namespace {

/// What the Tasks of the sweep use together.
struct Kitchen {
  Mutex stove{"stove"};
  Channel<int> dishes{"dishes", 1};
  Promise<int> order;
  int frames = 0;  // That have begun, and have not gone.
  int heating = 0;
};

fermata::Task<int> heat(Kitchen& kitchen, int dish) {
  const Inside frame(kitchen.frames);
  const Mutex::Guard guard(kitchen.stove, kPatient);
  const Inside heating(kitchen.heating);
  EXPECT_EQ(kitchen.heating, 1);
  co_await after(1ms);
  co_return dish;
}

fermata::Task<> cook(Kitchen& kitchen) {
  const Inside frame(kitchen.frames);
  for (int dish = 1; dish <= 2; ++dish) {
    const int hot = co_await heat(kitchen, dish);
    co_await operation([&] { kitchen.dishes.send(hot, kPatient); });
  }
}

fermata::Task<int> serve(Kitchen& kitchen) {
  const Inside frame(kitchen.frames);
  const Future<int> order = kitchen.order.future();
  int sum = co_await operation([&] { return await(order, kPatient); });
  for (int dish = 1; dish <= 2; ++dish) {
    const std::optional<int> served = co_await receive(kitchen.dishes, kPatient);
    sum += served.value_or(0);
  }
  const auto helper = spawn("helper", heat(kitchen, 3));
  sum += co_await helper;
  co_return sum;
}

}  // namespace

void tasks(sim::World& world) {
  std::optional<Kitchen> kitchen;
  world.sweep_cancellation(
      [&] {
        kitchen.emplace();
        const std::vector<Coroutine<>> cooks{spawn("cook", cook(*kitchen))};
        const std::vector<Coroutine<int>> waiters{spawn("waiter", serve(*kitchen))};
        suspend();
        kitchen->order.complete(1);
        when_all_settled(cooks);
        when_all_settled(waiters);
      },
      {.then = finds_all(world, "G-04",
                         [&] {
                           while (kitchen->dishes.try_recv()) continue;
                           static_cast<void>(kitchen->order.try_complete(1));
                           const auto cooks = spawn("cook", cook(*kitchen));
                           EXPECT_EQ(await(serve(*kitchen)), 7) << "G-04 (VAL)";
                           await(cooks);
                         }),
       .check = [&] {
         EXPECT_EQ(kitchen->frames, 0) << "TASK (REF): a frame is left";
         EXPECT_EQ(kitchen->heating, 0) << "TASK (REF): somebody is inside";
         EXPECT_FALSE(kitchen->stove.is_locked()) << "G-04 (REF): " << kitchen->stove.info();
       }});
}

void limits(sim::World& world) {
  Mutex mutex("mutex");
  Channel<int> channel("numbers", 1);
  int inside = 0;
  const auto work = [&](Duration limit) {
    const Inside count(inside);
    try {
      within({.timeout = limit}, [&] {
        const Mutex::Guard guard(mutex, kPatient);
        try {
          within({.timeout = 1h}, [&] { static_cast<void>(channel.recv(kPatient)); });
        } catch (const Cancellation&) {
          protect([] { delay(1ms); });
          delay(1ms);
          throw;
        }
      });
    } catch (const Timeout&) {
    }
  };
  world.sweep_cancellation(
      [&] {
        std::vector<Coroutine<>> workers;
        for (const Duration limit : {3ms, 10ms}) {
          workers.push_back(spawn("worker", [&work, limit] { work(limit); }));
        }
        delay(5ms);
        channel.send(1, kPatient);
        when_all_settled(workers);
      },
      {.then = finds_all(world, "G-04",
                         [&] {
                           while (channel.try_recv()) continue;
                           const Mutex::Guard guard(mutex, kPatient);
                           delay(10ms);  // Longer than any limit before.
                           channel.send(2, kPatient);
                           EXPECT_EQ(channel.recv(kPatient), 2) << "G-04 (VAL)";
                         }),
       .check = [&] {
         EXPECT_EQ(inside, 0) << "CORE-CN-07 (REF)";
         EXPECT_FALSE(mutex.is_locked()) << "G-04 (REF): " << mutex.info();
       }});
}

}  // namespace fermata::properties::sweeps
