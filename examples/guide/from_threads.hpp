// SPDX-License-Identifier: Apache-2.0
#pragma once

// The code of docs/guide/from_threads.md, so that what the page shows is compiled and run.

#include <chrono>
#include <cstdio>
#include <fermata/runtime.hpp>
#include <mutex>
#include <optional>

namespace guide::from_threads {

using namespace std::chrono_literals;

inline void queue() {
  fermata::Channel<int> jobs("jobs", 16);
  int sum = 0;
  auto worker = fermata::spawn("worker", [&] {
    for (const int job : jobs) sum += job;
  });
  for (int job = 1; job <= 3; ++job) jobs.send(job);
  jobs.close();
  fermata::await(worker);
  std::printf("the sum is %d\n", sum);
}

/// Two customers, and money for one of them.
inline void no_lock() {
  int balance = 10;
  int served = 0;
  const auto withdraw = [&](int amount) {
    if (balance < amount) return;
    balance -= amount;  // Nothing between the check and this suspends.
    ++served;
  };
  auto first = fermata::spawn("first", [&] { withdraw(8); });
  auto second = fermata::spawn("second", [&] { withdraw(8); });
  fermata::await(first);
  fermata::await(second);
  std::printf("%d of 2 served\n", served);
}

/// Two readers of a value that takes its time to load.
inline void lock_across_a_wait() {
  fermata::Mutex mutex("cache");
  std::optional<int> cached;
  int loads = 0;
  const auto value = [&] {
    const std::lock_guard lock(mutex);
    if (!cached) {
      fermata::delay(5ms);  // Here others run.
      cached = 42;
      ++loads;
    }
    return *cached;
  };
  auto first = fermata::spawn("first", value);
  auto second = fermata::spawn("second", value);
  fermata::await(first);
  fermata::await(second);
  std::printf("loaded %d time\n", loads);
}

inline void tour() {
  queue();
  no_lock();
  lock_across_a_wait();
}

}  // namespace guide::from_threads
