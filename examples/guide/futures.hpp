// SPDX-License-Identifier: Apache-2.0
#pragma once

// The code of docs/guide/futures.md, so that what the guide shows is compiled and run.

#include <chrono>
#include <cstdio>
#include <exception>
#include <fermata/io/remote_promise.hpp>
#include <fermata/runtime.hpp>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace guide::futures {

using namespace std::chrono_literals;

inline void both_sides() {
  fermata::Promise<int> promise("temperature");
  auto sensor = fermata::spawn("sensor", [&] {
    fermata::delay(10ms);
    promise.complete(21);
  });
  std::printf("it is %d degrees\n", fermata::await(promise.future()));
  fermata::await(sensor);
}

inline void chain() {
  fermata::Promise<std::string> reply;
  auto length = reply.future()
                    .map([](const std::string& text) { return text.size(); })
                    .catch_error([](const std::exception_ptr&) { return std::size_t{0}; })
                    .finally([] { std::printf("the reply was looked at\n"); });
  reply.complete("hello");
  std::printf("%zu letters\n", fermata::await(length));
}

inline void failure() {
  fermata::Promise<int> order;
  auto waiter = fermata::spawn("waiter", [meal = order.future()] {
    try {
      fermata::await(meal);
    } catch (const std::runtime_error& error) {
      std::printf("no meal: %s\n", error.what());
    }
  });
  order.fail(std::runtime_error("the kitchen is closed"));
  fermata::await(waiter);
}

inline void giving_up() {
  fermata::Promise<int> promise;
  auto answer = promise.future();
  answer.cancel();
  if (!promise.try_complete(42)) std::printf("nobody wants the answer any more\n");
  try {
    fermata::await(answer);
  } catch (const fermata::Cancellation& reason) {
    std::printf("%s\n", reason.what());
  }
}

inline void broken_promise() {
  auto promise = std::make_unique<fermata::Promise<int>>();
  auto answer = promise->future();
  promise.reset();  // Whoever could have completed it is gone.
  try {
    fermata::await(answer);
  } catch (const fermata::BrokenPromise&) {
    std::printf("nobody is left to answer\n");
  }
}

inline void from_another_thread() {
  fermata::Promise<int> promise;
  auto sum = promise.future();
  auto remote = std::make_shared<fermata::RemotePromise<int>>(std::move(promise));
  auto work = fermata::spawn("work", [remote] {
    fermata::offload([remote] {
      if (!remote->is_cancellation_requested()) remote->complete(20 + 22);
    });
  });
  std::printf("the sum is %d\n", fermata::await(sum));
  fermata::await(work);
}

inline void tour() {
  both_sides();
  chain();
  failure();
  giving_up();
  broken_promise();
  from_another_thread();
}

}  // namespace guide::futures
