// SPDX-License-Identifier: Apache-2.0
#pragma once

// The code of docs/guide/task_groups.md, so that what the page shows is compiled and run.

#include <chrono>
#include <cstdio>
#include <fermata/runtime.hpp>
#include <stdexcept>
#include <string>

namespace guide::task_groups {

using namespace std::chrono_literals;

inline int square(int number) {
  fermata::delay(number * 1ms);
  return number * number;
}

inline void all_results() {
  fermata::TaskGroup<int> squares({.concurrency = 2});
  for (int number = 1; number <= 4; ++number) {
    squares.spawn([number] { return square(number); });
  }
  int sum = 0;
  for (const auto& [key, value] : fermata::await(squares.all())) sum += value;
  std::printf("the sum is %d\n", sum);
}

inline void race() {
  fermata::TaskGroup<std::string, std::string> mirrors("mirrors");
  mirrors.spawn_with_key("far", [] {
    fermata::delay(50ms);
    return std::string("from afar");
  });
  mirrors.spawn_with_key("near", [] {
    fermata::delay(5ms);
    return std::string("from nearby");
  });
  std::printf("%s\n", fermata::await(mirrors.any()).c_str());
}

inline void failures() {
  fermata::TaskGroup<> jobs("jobs");
  jobs.spawn([] { throw std::runtime_error("disk full"); });
  jobs.close();
  jobs.await_completion();
  for (const auto& [key, error] : jobs.errors()) {
    std::printf("job %d failed: %s\n", static_cast<int>(key), fermata::message_of(error).c_str());
  }
}

inline void joining() {
  fermata::TaskSet<int> downloads;
  for (int number = 3; number >= 1; --number) {
    downloads.spawn([number] { return square(number); });
  }
  downloads.close();
  while (const auto done = downloads.next()) std::printf("got %d\n", *done->value);
}

inline void tour() {
  all_results();
  race();
  failures();
  joining();
}

}  // namespace guide::task_groups
