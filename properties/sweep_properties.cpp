// SPDX-License-Identifier: Apache-2.0

// Every primitive, interrupted at every suspension point: whoever is cancelled or timed out,
// nothing is lost, kept or counted twice, and everybody else goes on.

#include <chrono>
#include <fermata/sim.hpp>
#include <map>
#include <string>
#include <vector>

#include "fermata/runtime.hpp"

namespace fermata::properties {
namespace {

using namespace std::chrono_literals;

constexpr WaitOptions kPatient{.timeout = 1s};

/// Counts who is inside.
class Inside {
 public:
  explicit Inside(int& count) : count_(count) { ++count_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  ~Inside() { --count_; }

 private:
  int& count_;
};

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

/// Two send three values each through a channel, two receive; the ledger knows every value.
class ChannelLedger {
 public:
  explicit ChannelLedger(std::size_t capacity) : capacity_(capacity) {}

  void run() {
    sent_.clear();
    received_.clear();
    channel_ = Channel<int>("values", capacity_);
    std::vector<Coroutine<>> all;
    for (int sender = 0; sender < 2; ++sender) {
      all.push_back(spawn("sender " + std::to_string(sender), [this, sender] { send(sender); }));
      all.push_back(spawn("receiver " + std::to_string(sender), [this] { receive(); }));
    }
    await_all(all);
  }

  void check() {
    while (const auto left = channel_.try_recv()) ++received_[*left];
    for (const auto& [value, count] : received_) {
      EXPECT_EQ(count, 1) << "value " << value;
      EXPECT_EQ(sent_.count(value), 1u) << "value " << value << " was never offered";
    }
    for (const auto& [value, accepted] : sent_) {
      EXPECT_TRUE(!accepted || received_.count(value) == 1) << "value " << value << " was lost";
    }
    EXPECT_EQ(channel_.info(), "Channel(capacity=" + std::to_string(capacity_) +
                                   ", receivers=0, senders=0, reserved=0/0)");
  }

 private:
  void send(int sender) {
    for (int i = 0; i < 3; ++i) {
      const int value = sender * 10 + i;
      sent_[value] = false;
      channel_.send(value, kPatient);
      sent_[value] = true;
    }
  }
  void receive() {
    for (int i = 0; i < 3; ++i) {
      const int value = channel_.recv(kPatient);
      ++received_[value];
    }
  }

  std::size_t capacity_;
  Channel<int> channel_;
  std::map<int, bool> sent_;  // Value -> whether it was accepted.
  std::map<int, int> received_;
};

SIM_TEST(Sweep, RendezvousLosesNoValue) {
  ChannelLedger ledger(0);
  world.sweep_cancellation([&] { ledger.run(); }, [&] { ledger.check(); });
}

SIM_TEST(Sweep, BufferedChannelLosesNoValue) {
  ChannelLedger ledger(1);
  world.sweep_cancellation([&] { ledger.run(); }, [&] { ledger.check(); });
}

SIM_TEST(Sweep, FutureReachesEveryOtherAwaiter) {
  int answered = 0;
  int interrupted = 0;
  world.sweep_cancellation([&] {
    answered = interrupted = 0;
    Promise<int> promise;
    std::vector<Coroutine<>> awaiters;
    for (int i = 0; i < 3; ++i) {
      awaiters.push_back(spawn("awaiter", [&, future = promise.future()] {
        try {
          EXPECT_EQ(await(future, kPatient), 7);
          ++answered;
        } catch (const Timeout&) {
          ++interrupted;
        } catch (const BrokenPromise&) {
          ++interrupted;  // Who promised was cancelled.
        } catch (const Cancellation&) {
          ++interrupted;
          throw;
        }
      }));
    }
    const auto doubled = promise.future().map([](int value) { return value * 2; });
    doubled.ignore();
    suspend();
    static_cast<void>(promise.try_complete(7));
    await_all(awaiters);
    EXPECT_EQ(answered + interrupted, 3);
    EXPECT_EQ(await(doubled), 14);
  });
}

SIM_TEST(Sweep, AwaitFamilyLeavesItsItemsAlone) {
  int ended = 0;
  int spawned = 0;
  world.sweep_cancellation([&] {
    ended = spawned = 0;
    std::vector<Coroutine<int>> items;
    for (int i = 0; i < 3; ++i) {
      ++spawned;
      items.push_back(spawn("item", [&ended, i] {
        const struct Count {
          int& counter;
          ~Count() { ++counter; }
        } count{ended};
        delay(std::chrono::milliseconds(i));
        return i;
      }));
    }
    await_any_of(2, items, {.timeout = 1s, .on_exit = ExitPolicy::CancelAndJoin});
    EXPECT_LE(ended, 3);
    for (const auto& item : items) EXPECT_TRUE(item->is_completed());
  });
}

SIM_TEST(Sweep, MutexIsNeverLeftLocked) {
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
        await_all(all);
      },
      [&] { EXPECT_FALSE(mutex.is_locked()) << mutex.info(); });
}

SIM_TEST(Sweep, SemaphoreKeepsItsPermits) {
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
        await_all(all);
      },
      [&] { EXPECT_EQ(slots.available(), 2u); });
}

SIM_TEST(Sweep, ConditionComesBackWithItsMutex) {
  Mutex mutex("mutex");
  Condition changed("changed");
  int state = 0;
  world.sweep_cancellation(
      [&] {
        state = 0;
        std::vector<Coroutine<>> waiters;
        for (int i = 0; i < 2; ++i) {
          waiters.push_back(spawn("waiter", [&] {
            const Mutex::Guard guard(mutex);
            changed.wait(
                mutex, [&] { return state > 0; }, kPatient);
            EXPECT_TRUE(mutex.held_by_caller());
            --state;
          }));
        }
        for (int i = 0; i < 2; ++i) {
          const Mutex::Guard guard(mutex);
          ++state;
          changed.notify_one();
        }
        await_all(waiters);
      },
      [&] { EXPECT_FALSE(mutex.is_locked()) << mutex.info(); });
}

SIM_TEST(Sweep, BarrierKeepsNobodyForEver) {
  world.sweep_cancellation([&] {
    Barrier barrier("start", 3);
    std::vector<Coroutine<>> parties;
    for (int i = 0; i < 3; ++i) {
      parties.push_back(spawn("party", [&] {
        try {
          barrier.arrive_and_wait(kPatient);
        } catch (const BrokenBarrier&) {
        }
      }));
    }
    // Whoever is interrupted, the barrier outlives its parties.
    protect([&] { await_all(parties); });
  });
}

SIM_TEST(Sweep, PoolGetsEveryResourceBack) {
  int alive = 0;
  Pool<int> pool("pool", {.factory =
                              [&] {
                                suspend();
                                return std::optional(++alive);
                              },
                          .destructor = [&](int&) { --alive; },
                          .before_acquire =
                              [](int&) {
                                suspend();
                                return true;
                              },
                          .max = 2});
  world.sweep_cancellation(
      [&] {
        std::vector<Coroutine<>> users;
        for (int i = 0; i < 3; ++i) {
          users.push_back(spawn("user", [&] {
            const Lease<int> lease = pool.acquire(kPatient);
            suspend();
          }));
        }
        await_all(users);
      },
      [&] {
        EXPECT_EQ(pool.active_count(), 0);
        EXPECT_EQ(pool.idle_count(), alive);
        EXPECT_LE(alive, 2);
      });
}

SIM_TEST(Sweep, ScopeLeavesNoMemberBehind) {
  int inside = 0;
  world.sweep_cancellation(
      [&] {
        Scope part("part");
        for (int i = 0; i < 3; ++i) {
          part.spawn("member", [&] {
            const Inside count(inside);
            delay(1ms);
            suspend();
          });
        }
        part.await_completion(kPatient);
        part.cancel();
        EXPECT_TRUE(part.is_closed());
      },
      [&] { EXPECT_EQ(inside, 0); });
}

SIM_TEST(Sweep, TaskGroupLeavesNoTaskBehind) {
  int inside = 0;
  world.sweep_cancellation(
      [&] {
        TaskGroup<int> group("group", {.concurrency = 2, .queue_limit = 1});
        for (int i = 0; i < 4; ++i) {
          group.spawn([&, i] {
            const Inside count(inside);
            EXPECT_LE(inside, 2);
            delay(1ms);
            return i;
          });
        }
        const auto all = group.all(true);
        group.close();
        EXPECT_LE(await(all, kPatient).size(), 4u);
      },
      [&] { EXPECT_EQ(inside, 0); });
}

SIM_TEST(Sweep, IterationLeavesNoCallbackBehind) {
  int inside = 0;
  world.sweep_cancellation(
      [&] {
        const std::vector<int> items = {1, 2, 3, 4};
        iterate(items,
                [&](int) {
                  const Inside count(inside);
                  EXPECT_LE(inside, 2);
                  delay(1ms);
                },
                {.concurrency = 2});
        EXPECT_EQ(inside, 0);
      },
      [&] { EXPECT_EQ(inside, 0); });
}

}  // namespace
}  // namespace fermata::properties
