// SPDX-License-Identifier: Apache-2.0
#pragma once

// The code of docs/guide/threads.md, so that what the page shows is compiled and run.

#include <chrono>
#include <cstdio>
#include <fermata/io/thread.hpp>
#include <fermata/io/thread_channel.hpp>
#include <fermata/io/thread_pool.hpp>
#include <fermata/runtime.hpp>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace guide::threads {

using namespace std::chrono_literals;

inline int sum_of(const std::vector<int>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0);
}

inline void one_thread() {
  std::vector<int> numbers{1, 2, 3};
  auto thread = fermata::spawn_thread(
      [numbers = std::move(numbers)] {
        fermata::delay(1ms);  // It has a runtime of its own.
        return sum_of(numbers);
      },
      {.name = "adder"});
  std::printf("the sum is %d\n", fermata::await(thread));
}

inline void failure() {
  const auto thread = fermata::spawn_thread([] { throw std::runtime_error("no such file"); });
  try {
    fermata::await(thread);
  } catch (const fermata::RemoteError& error) {
    std::printf("%s: %s\n", error.type_name().c_str(), error.text().c_str());
  }
}

inline void giving_up() {
  const auto thread = fermata::spawn_thread([] { fermata::delay(24h); });
  thread.cancel();
  try {
    fermata::await(thread);
  } catch (const fermata::Cancellation&) {
    std::printf("it was cancelled\n");
  }
}

inline void channel() {
  const fermata::ThreadChannel<std::string> words(4);
  const auto reader = fermata::spawn_thread([words] {
    std::size_t letters = 0;
    while (const auto word = words.next()) letters += word->size();
    return letters;
  });
  for (const char* word : {"one", "two", "three"}) words.send(word);
  words.close();
  std::printf("%zu letters\n", fermata::await(reader));
}

inline void pool() {
  fermata::ThreadPool pool({.workers = 2});
  auto sum = pool.submit([] { return sum_of({20, 22}); });
  const std::vector<int> squares =
      pool.map(std::vector<int>{1, 2, 3}, [](int number) { return number * number; });
  std::printf("%d, and %zu squares\n", fermata::await(sum), squares.size());
}

inline void ends_of_a_pool() {
  fermata::ThreadPool pool({.workers = 1, .mode = fermata::ThreadPoolMode::Coroutine});
  const auto endless = pool.submit([] { fermata::delay(24h); });
  pool.cancel();
  try {
    fermata::await(endless);
  } catch (const fermata::Cancellation& reason) {
    std::printf("%s\n", reason.what());
  }
  pool.join();
  const fermata::ThreadPoolCounters counters = pool.counters();
  std::printf("%zu of %zu\n", static_cast<std::size_t>(counters.cancelled),
              static_cast<std::size_t>(counters.submitted));
}

inline void reload() {
  fermata::ThreadPool pool({.workers = 2, .on_thread_start = [] { std::printf("ready\n"); }});
  pool.reload();  // New threads, which have read the new configuration, say.
  fermata::await(pool.submit([] {}));
}

inline void tour() {
  one_thread();
  failure();
  giving_up();
  channel();
  pool();
  ends_of_a_pool();
  reload();
}

}  // namespace guide::threads
