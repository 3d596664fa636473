// SPDX-License-Identifier: Apache-2.0
#pragma once

// The code of docs/guide/tasks.md, so that what the page shows is compiled and run.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <fermata/runtime.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace guide::tasks {

using namespace std::chrono_literals;

inline fermata::Task<int> length_of(fermata::Future<std::string> text) {
  co_await fermata::after(1ms);
  const std::string& word = co_await text;
  co_return static_cast<int>(word.size());
}

inline void a_task() {
  fermata::Promise<std::string> promise;
  promise.complete("fermata");
  const int length = fermata::await(length_of(promise.future()));
  std::printf("%d letters\n", length);
}

inline fermata::Task<int> sum_of(fermata::Channel<int> numbers) {
  int sum = 0;
  while (const std::optional<int> number = co_await fermata::receive(numbers)) sum += *number;
  co_return sum;
}

inline void a_coroutine_of_its_own() {
  const fermata::Channel<int> numbers("numbers", 4);
  const auto sum = fermata::spawn("sum", sum_of(numbers));
  for (const int number : {1, 2, 3}) numbers.send(number);
  numbers.close();
  std::printf("the sum is %d\n", fermata::await(sum));
}

inline void a_function_that_returns_one() {
  const std::string name = "Ada";
  const auto greeting = fermata::spawn("greeting", [name]() -> fermata::Task<std::string> {
    co_await fermata::after(1ms);
    co_return "hello " + name;
  });
  std::printf("%s\n", fermata::await(greeting).c_str());
}

inline fermata::Task<int> answer_after(std::chrono::milliseconds span, int answer) {
  co_await fermata::after(span);
  co_return answer;
}

inline fermata::Task<int> one_after_the_other() {
  const int first = co_await answer_after(2ms, 1);
  co_return first + co_await answer_after(2ms, 2);
}

inline fermata::Task<int> at_the_same_time() {
  const auto first = fermata::spawn("first", answer_after(2ms, 1));
  const auto second = fermata::spawn("second", answer_after(2ms, 2));
  const int sum = co_await first;
  co_return sum + co_await second;
}

inline void concurrency() {
  std::printf("it is %d\n", fermata::await(one_after_the_other()));
  std::printf("it is still %d\n", fermata::await(at_the_same_time()));
}

inline fermata::Task<> options(fermata::Channel<int> silent) {
  try {
    co_await fermata::receive(silent, {.timeout = 10ms});
  } catch (const fermata::Timeout&) {
    std::printf("nothing came\n");
  }
  const fermata::Future<int> reply = silent.recv_async();
  try {
    co_await fermata::operation([&] { return fermata::await(reply, {.timeout = 10ms}); });
  } catch (const fermata::Timeout&) {
    std::printf("nothing yet\n");
  }
}

inline fermata::Task<bool> try_three_times(int& attempts) {
  for (int i = 0; i < 3; ++i) {
    try {
      ++attempts;
      co_await fermata::operation([] { throw std::runtime_error("busy"); });
      co_return true;
    } catch (const std::runtime_error&) {
      fermata::delay(1ms);
    }
  }
  co_return false;
}

inline void plain_calls() {
  int attempts = 0;
  const bool done = fermata::await(try_three_times(attempts));
  std::printf("%s after %d attempts\n", done ? "done" : "given up", attempts);
}

inline fermata::Task<> poll_forever() {
  try {
    for (;;) co_await fermata::after(1h);
  } catch (const fermata::Cancellation& reason) {
    std::printf("the poller stops: %s\n", reason.what());
    throw;
  }
}

inline void cancellation() {
  const auto poller = fermata::spawn("poller", poll_forever());
  fermata::delay(1ms);
  poller.cancel();
  try {
    fermata::await(poller);
  } catch (const fermata::Cancellation&) {
    std::printf("the poller has ended\n");
  }
}

inline void tour() {
  a_task();
  a_coroutine_of_its_own();
  a_function_that_returns_one();
  concurrency();
  fermata::await(options(fermata::Channel<int>("silent", 0)));
  plain_calls();
  cancellation();
}

}  // namespace guide::tasks
