// SPDX-License-Identifier: Apache-2.0

// Futures, triggers and tokens: what was told to one who was interrupted is told to the next.

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "fermata/io/trigger.hpp"
#include "properties/interpreter/state.hpp"
#include "properties/sweeps/programs.hpp"

namespace fermata::properties::sweeps {

using namespace std::chrono_literals;

void future(sim::World& world) {
  Promise<int> promise;
  const auto twice = [](int value) { return value * 2; };
  int answered = 0;
  int interrupted = 0;
  world.sweep_cancellation(
      [&] {
        answered = interrupted = 0;
        promise = Promise<int>();
        const auto doubled = promise.future().map(twice);
        doubled.ignore();
        std::vector<Coroutine<>> awaiters;
        for (int i = 0; i < 3; ++i) {
          awaiters.push_back(spawn("awaiter", [&, future = promise.future()] {
            try {
              EXPECT_EQ(await(future, kPatient), 7);
              ++answered;
            } catch (const Timeout&) {
              ++interrupted;
            } catch (const Cancellation&) {
              ++interrupted;
              throw;
            }
          }));
        }
        suspend();
        promise.complete(7);
        when_all_settled(awaiters);
        EXPECT_EQ(answered + interrupted, 3);
        EXPECT_EQ(await(doubled, kPatient), 14);
      },
      {.then = finds_all(world, "G-03", [&] {
         static_cast<void>(promise.try_complete(7));  // Who promised may have been cancelled.
         EXPECT_EQ(await(promise.future(), kPatient), 7);
         EXPECT_EQ(await(promise.future().map(twice), kPatient), 14);
       })});
}

void awaited_items(sim::World& world) {
  std::vector<Coroutine<int>> items;
  world.sweep_cancellation(
      [&] {
        items.clear();
        for (int i = 0; i < 3; ++i) {
          items.push_back(spawn("item", [i] {
            delay(std::chrono::milliseconds(i));
            return i;
          }));
        }
        when_some_succeed(2, items, {.timeout = 1s, .on_exit = ExitPolicy::CancelAndJoin});
        for (const auto& item : items) EXPECT_TRUE(item->is_completed());
      },
      {.then = finds_all(world, "CORE-AW-03", [&] {
         const auto all = when_all_settled(items, {.timeout = 1s});
         EXPECT_EQ(all.values.size() + all.errors.size(), items.size()) << "CORE-AW-03 (WAKE)";
       })});
}

void trigger(sim::World& world) {
  Trigger filled;
  int things = 0;
  const auto put = [&] {
    ++things;
    filled.fire();
  };
  const auto collect = [&] {
    filled.wait(kPatient);
    things = 0;
  };
  world.sweep_cancellation(
      [&] {
        const auto collector = spawn("collector", [&] {
          for (int i = 0; i < 2; ++i) collect();
        });
        for (int i = 0; i < 2; ++i) {
          put();
          delay(1ms);
        }
        await(collector);
      },
      {.then = finds_all(world, "THR-03", [&] {
         if (things > 0) collect();
         put();
         collect();
       })});
}

namespace {

/// Three wait for permits that nobody gives, with the token that `make` makes, until `fire` fires
/// it. Whoever comes next is told of the token too, and the semaphore knows nothing of them all.
template <class Make, class Fire>
void sweep_token(sim::World& world, Make make, Fire fire) {
  Semaphore gate("gate", 0);
  decltype(make()) token;
  const std::size_t idle_activity = current_runtime().active_event_count();
  const auto is_given_up = [&] {
    try {
      gate.acquire(1, {.timeout = kPatient.timeout, .token = token.get()});
      ADD_FAILURE() << "CORE-CN-03 (ONCE): a permit that nobody gave was got";
    } catch (const OperationCancelled&) {
    }
  };
  world.sweep_cancellation(
      [&] {
        token = make();
        std::vector<Coroutine<>> waiters;
        for (int i = 0; i < 3; ++i) waiters.push_back(spawn("waiter", is_given_up));
        suspend();
        fire(*token);
        when_all_settled(waiters);
      },
      {.then = finds_all(world, "CORE-CN-03",
                         [&] {
                           fire(*token);
                           is_given_up();
                           gate.release();
                           EXPECT_TRUE(gate.try_acquire()) << "CORE-CN-03 (REF): " << gate.info();
                         }),
       .check = [&] {
         EXPECT_EQ(current_runtime().active_event_count(), idle_activity)
             << "CORE-CN-08 (STOP): a token that nobody waits for is active";
       }});
}

}  // namespace

void token(sim::World& world) {
  sweep_token(
      world, [] { return Ref<PlainEvent>::adopt(*new PlainEvent(current_runtime(), true)); },
      [](PlainEvent& event) {
        if (!event.is_closed()) event.complete();
      });
}

void deadline(sim::World& world) {
  sweep_token(
      world, [] { return make_timeout(2ms); }, [](const backend::TimeoutEvent&) {});
}

}  // namespace fermata::properties::sweeps
