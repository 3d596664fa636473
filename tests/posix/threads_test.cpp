// SPDX-License-Identifier: Apache-2.0

// Threads of the C and C++ libraries in a simulated process, as any program uses them.

#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <condition_variable>
#include <ctime>
#include <deque>
#include <latch>
#include <mutex>
#include <semaphore>
#include <set>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#include "fermata/base/sanitizer.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;

class Threads : public test::WorldFixture {
 protected:
  void run_alone(std::function<void()> body) {
    world_->node("main", std::move(body));
    run();
  }
  /// Why the run fails; empty if it does not.
  std::string failure_of(std::function<void()> body) {
    world_->node("main", std::move(body));
    world_->run();
    return world_->failure() ? world_->failure()->message : std::string();
  }
};

TEST_F(Threads, RunAndAreJoined) {
  run_alone([] {
    std::vector<int> order;
    std::thread::id id;
    std::thread thread([&] {
      order.push_back(1);
      id = std::this_thread::get_id();
      std::this_thread::sleep_for(1s);
      order.push_back(2);
    });
    EXPECT_EQ(thread.get_id() == std::this_thread::get_id(), false);
    const std::thread::id of_thread = thread.get_id();
    thread.join();
    order.push_back(3);
    EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
    EXPECT_EQ(id, of_thread);
    EXPECT_EQ(now().nanoseconds >= 1'000'000'000, true);
  });
}

TEST_F(Threads, AMutexKeepsOthersOut) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    begin(seed);
    run_alone([] {
      std::mutex mutex;
      int inside = 0;
      int count = 0;
      const auto work = [&] {
        for (int i = 0; i < 5; ++i) {
          const std::lock_guard lock(mutex);
          EXPECT_EQ(++inside, 1);
          std::this_thread::sleep_for(1ms);
          ++count;
          --inside;
        }
      };
      std::thread one(work);
      std::thread two(work);
      work();
      one.join();
      two.join();
      EXPECT_EQ(count, 15);
    });
  }
}

TEST_F(Threads, AConditionVariableIsWaitedFor) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    begin(seed);
    run_alone([] {
      std::mutex mutex;
      std::condition_variable is_there;
      std::deque<int> queue;
      std::vector<int> got;
      std::thread consumer([&] {
        while (got.size() < 10) {
          std::unique_lock lock(mutex);
          is_there.wait(lock, [&] { return !queue.empty(); });
          got.push_back(queue.front());
          queue.pop_front();
        }
      });
      for (int i = 0; i < 10; ++i) {
        {
          const std::lock_guard lock(mutex);
          queue.push_back(i);
        }
        is_there.notify_one();
      }
      consumer.join();
      EXPECT_EQ(got, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
    });
  }
}

TEST_F(Threads, WaitsEndInTime) {
  run_alone([] {
    std::timed_mutex mutex;
    std::mutex plain;
    std::condition_variable never;
    const std::lock_guard held(mutex);
    std::thread thread([&] {
      const auto begun = std::chrono::steady_clock::now();
      EXPECT_FALSE(mutex.try_lock_for(2s));
      std::unique_lock lock(plain);
      EXPECT_EQ(never.wait_for(lock, 3s), std::cv_status::timeout);
      const auto deadline = std::chrono::system_clock::now() + 4s;
      EXPECT_EQ(never.wait_until(lock, deadline), std::cv_status::timeout);
      std::binary_semaphore semaphore(0);
      EXPECT_FALSE(semaphore.try_acquire_for(1s));
      const auto took = std::chrono::steady_clock::now() - begun;
      EXPECT_GE(took, 10s);
      EXPECT_LT(took, 10100ms);
    });
    thread.join();
  });
}

TEST_F(Threads, StandardPrimitivesWork) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    begin(seed);
    run_alone([] {
      std::latch latch(3);
      std::barrier barrier(3);
      std::counting_semaphore<2> permits(2);
      std::atomic<int> word = 0;
      std::shared_mutex shared;
      std::once_flag once;
      int readers = 0;
      int begun = 0;
      int inside = 0;
      std::vector<std::jthread> threads;
      for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&] {
          std::call_once(once, [&] {
            std::this_thread::sleep_for(1ms);
            ++begun;
          });
          EXPECT_EQ(begun, 1);
          latch.arrive_and_wait();
          permits.acquire();
          EXPECT_LE(++inside, 2);
          std::this_thread::yield();
          --inside;
          permits.release();
          barrier.arrive_and_wait();
          {
            const std::shared_lock lock(shared);
            ++readers;
            std::this_thread::sleep_for(1ms);
            --readers;
          }
          const std::unique_lock lock(shared);
          EXPECT_EQ(readers, 0);
          word.fetch_add(1);
          word.notify_all();
        });
      }
      for (int seen = word.load(); seen < 3; seen = word.load()) word.wait(seen);
      EXPECT_EQ(word.load(), 3);
    });
  }
}

TEST_F(Threads, PrimitivesOfCWork) {
  run_alone([] {
    struct Shared {
      sem_t there;
      pthread_barrier_t barrier;
      pthread_spinlock_t spin;
      mtx_t mutex;
      cnd_t told;
      int value = 0;
    } shared;
    sem_init(&shared.there, 0, 0);
    pthread_barrier_init(&shared.barrier, nullptr, 2);
    pthread_spin_init(&shared.spin, 0);
    mtx_init(&shared.mutex, mtx_plain);
    cnd_init(&shared.told);
    thrd_t thread = {};
    const auto body = [](void* argument) {
      auto& all = *static_cast<Shared*>(argument);
      sem_wait(&all.there);
      pthread_barrier_wait(&all.barrier);
      pthread_spin_lock(&all.spin);
      pthread_spin_unlock(&all.spin);
      mtx_lock(&all.mutex);
      all.value = 7;
      cnd_signal(&all.told);
      mtx_unlock(&all.mutex);
      return 42;
    };
    ASSERT_EQ(thrd_create(&thread, body, &shared), thrd_success);
    sem_post(&shared.there);
    pthread_barrier_wait(&shared.barrier);
    mtx_lock(&shared.mutex);
    while (shared.value == 0) cnd_wait(&shared.told, &shared.mutex);
    mtx_unlock(&shared.mutex);
    int result = 0;
    EXPECT_EQ(thrd_join(thread, &result), thrd_success);
    EXPECT_EQ(result, 42);
    cnd_destroy(&shared.told);
    mtx_destroy(&shared.mutex);
    pthread_barrier_destroy(&shared.barrier);
    sem_destroy(&shared.there);
  });
}

TEST_F(Threads, ValuesOfAThreadAreDestroyedAtItsEnd) {
  static std::vector<int> destroyed;
  destroyed.clear();
  run_alone([] {
    pthread_key_t key = 0;
    ASSERT_EQ(pthread_key_create(&key,
                                 [](void* value) {
                                   destroyed.push_back(*static_cast<int*>(value));
                                   delete static_cast<int*>(value);
                                 }),
              0);
    EXPECT_EQ(pthread_getspecific(key), nullptr);
    const auto work = [key](int number) {
      EXPECT_EQ(pthread_getspecific(key), nullptr);
      EXPECT_EQ(pthread_setspecific(key, new int(number)), 0);
      std::this_thread::sleep_for(1ms);
      EXPECT_EQ(*static_cast<int*>(pthread_getspecific(key)), number);
    };
    std::thread one(work, 1);
    one.join();
    std::thread two(work, 2);
    two.join();
    EXPECT_EQ(destroyed, (std::vector<int>{1, 2}));
    EXPECT_EQ(pthread_key_delete(key), 0);
    EXPECT_EQ(pthread_setspecific(key, nullptr), EINVAL);
  });
}

TEST_F(Threads, MutexesHaveTheirKinds) {
  run_alone([] {
    std::recursive_mutex recursive;
    const std::lock_guard once(recursive);
    const std::lock_guard twice(recursive);
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_t mutex;
    pthread_mutex_init(&mutex, &attributes);
    EXPECT_EQ(pthread_mutex_unlock(&mutex), EPERM);
    EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
    EXPECT_EQ(pthread_mutex_lock(&mutex), EDEADLK);
    EXPECT_EQ(pthread_mutex_trylock(&mutex), EBUSY);
    std::thread other([&] {
      EXPECT_EQ(pthread_mutex_unlock(&mutex), EPERM);
      EXPECT_EQ(pthread_mutex_trylock(&mutex), EBUSY);
      EXPECT_FALSE(recursive.try_lock());
    });
    other.join();
    EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
    EXPECT_EQ(pthread_mutex_destroy(&mutex), 0);
  });
}

TEST_F(Threads, ADetachedThreadEndsWithItsProcess) {
  int waited = 0;
  run_alone([&] {
    std::thread([&] {
      for (;;) {
        std::this_thread::sleep_for(1s);
        ++waited;
      }
    }).detach();
    std::thread([] {
      std::mutex mutex;
      std::condition_variable never;
      std::unique_lock lock(mutex);
      for (;;) never.wait(lock);
    }).detach();
    delay(2500ms);
  });
  EXPECT_LE(waited, 3);
  EXPECT_GE(waited, 2);
}

TEST_F(Threads, OneThatNobodyJoinsFailsTheRun) {
  EXPECT_EQ(failure_of([] {
              pthread_t thread = 0;
              ASSERT_EQ(pthread_create(
                            &thread, nullptr, [](void*) -> void* { return nullptr; }, nullptr),
                        0);
              pthread_setname_np(thread, "forgotten");
            }),
            "thread 'forgotten' was never joined or detached");
}

TEST_F(Threads, AMutexThatIsDestroyedWhileItIsHeldFailsTheRun) {
  EXPECT_EQ(failure_of([] {
              pthread_mutex_t mutex;
              pthread_mutex_init(&mutex, nullptr);
              pthread_mutex_lock(&mutex);
              pthread_mutex_destroy(&mutex);
            }),
            "pthread_mutex_destroy() of mutex '#1', which 'main' holds");
}

TEST_F(Threads, AMutexThatIsHeldWhenTheRunFailsIsFreeAfterIt) {
  std::mutex mutex;
  EXPECT_EQ(failure_of([&] {
              const std::lock_guard held(mutex);
              world_->fail(Verdict::Safety, "it fails");
            }),
            "it fails");
  ASSERT_TRUE(mutex.try_lock());
  mutex.unlock();
}

TEST_F(Threads, TwoMutexesInTwoOrdersAreADeadlock) {
  std::set<std::string> failures;
  for (std::uint64_t seed = 1; seed <= 100 && failures.empty(); ++seed) {
    begin(seed);
    const std::string failure = failure_of([] {
      std::mutex one;
      std::mutex two;
      std::thread thread([&] {
        const std::lock_guard first(one);
        const std::lock_guard second(two);
      });
      {
        const std::lock_guard first(two);
        const std::lock_guard second(one);
      }
      thread.join();
    });
    if (!failure.empty()) failures.insert(failure);
  }
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_NE(failures.begin()->find("Deadlock detected"), std::string::npos);
}

TEST_F(Threads, ACrashEndsThemAndALockIsFreeInTheNextLife) {
  static std::mutex mutex;
  int lives = 0;
  world_->service("main", [&] {
    ++lives;
    EXPECT_TRUE(mutex.try_lock());
    std::thread([] {
      std::condition_variable never;
      std::mutex other;
      std::unique_lock lock(other);
      for (;;) never.wait(lock);
    }).detach();
    for (;;) delay(1s);
  });
  world_->at(10ms, [&] { world_->node("main").crash(); });
  world_->at(20ms, [&] { world_->node("main").restart(); });
  world_->node("other", [] { delay(50ms); });
  run();
  EXPECT_EQ(lives, 2);
}

TEST_F(Threads, ADestructorThatWaitsAtACrashKeepsNoOtherFromRunning) {
  static int destroyed = 0;
  struct Outer {
    ~Outer() { ++destroyed; }
  };
  struct Sleeper {
    ~Sleeper() { ::sleep(1); }
  };
  destroyed = 0;
  world_->node("main", [] {
    std::thread([] {
      const Outer outer;
      const Sleeper sleeper;
      ::sleep(100);
    }).join();
  });
  world_->at(1s, [&] { world_->node("main").crash(); });
  run();
  EXPECT_EQ(destroyed, 1);
}

[[gnu::noinline]] std::size_t touch_stack(std::size_t bytes) {
  constexpr std::size_t kPage = 4096;
  auto* const memory = static_cast<volatile char*>(__builtin_alloca(bytes));
  std::size_t touched = 0;
  for (std::size_t at = 0; at < bytes; at += kPage) {
    memory[at] = 1;
    ++touched;
  }
  return touched;
}

TEST_F(Threads, HaveAStackLikeThatOfLinux) {
#ifdef FERMATA_ASAN
  constexpr std::size_t kBytes = std::size_t{1} << 20;
#else
  constexpr std::size_t kBytes = std::size_t{7} << 20;
#endif
  run_alone([] {
    EXPECT_EQ(touch_stack(kBytes), kBytes / 4096);
    std::thread([] { EXPECT_EQ(touch_stack(kBytes), kBytes / 4096); }).join();
  });
}

using ThreadsOfManyRuns = test::OneWorldFixture;

TEST_F(ThreadsOfManyRuns, TakeTheSameTimeInEach) {
  std::set<std::int64_t> ends;
  for (int run_number = 0; run_number < 3; ++run_number) {
    run([&] {
      std::thread([] {}).join();
      std::mutex mutex;
      for (int i = 0; i < 5'000; ++i) const std::lock_guard held(mutex);
      ends.insert(now().nanoseconds);
    });
  }
  EXPECT_EQ(ends.size(), 1u);
  EXPECT_GT(*ends.begin(), 0);
}

}  // namespace
}  // namespace fermata::sim
