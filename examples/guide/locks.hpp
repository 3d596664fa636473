// SPDX-License-Identifier: Apache-2.0
#pragma once

// The code of docs/guide/locks.md, so that what the guide shows is compiled and run.

#include <chrono>
#include <cstdio>
#include <deque>
#include <fermata/runtime.hpp>
#include <mutex>
#include <vector>

namespace guide::locks {

using namespace std::chrono_literals;

inline void exclusion() {
  fermata::Mutex ledger("ledger");
  int balance = 0;
  const auto deposit = [&] {
    const fermata::Mutex::Guard guard(ledger);
    const int before = balance;
    fermata::delay(1ms);  // Nobody else can change it meanwhile.
    balance = before + 10;
  };
  const std::vector tellers = {fermata::spawn("Ada", deposit), fermata::spawn("Bob", deposit)};
  for (const auto& teller : tellers) fermata::await(teller);
  std::printf("balance %d\n", balance);
}

inline void patience() {
  fermata::Mutex ledger("ledger");
  const auto audit = fermata::spawn("audit", [&] {
    const std::lock_guard guard(ledger);
    fermata::delay(1s);
  });
  fermata::suspend();
  try {
    const fermata::Mutex::Guard guard(ledger, {.timeout = 20ms});
  } catch (const fermata::Timeout&) {
    std::printf("the ledger is busy\n");
  }
  fermata::await(audit);
}

inline void permits() {
  fermata::Semaphore lanes("lanes", 2);
  std::vector<fermata::Coroutine<>> cars;
  for (int i = 0; i < 4; ++i) {
    cars.push_back(fermata::spawn("car", [&lanes] {
      lanes.acquire();
      fermata::delay(5ms);
      lanes.release();
    }));
  }
  for (const auto& car : cars) fermata::await(car);
  std::printf("%zu lanes are free\n", lanes.available());
}

inline void conditions() {
  fermata::Mutex mutex("queue");
  fermata::Condition not_empty("not empty");
  std::deque<int> queue;
  const auto reader = fermata::spawn("reader", [&] {
    std::unique_lock lock(mutex);
    not_empty.wait(lock, [&] { return !queue.empty(); });
    return queue.front();
  });
  {
    const fermata::Mutex::Guard guard(mutex);
    queue.push_back(7);
  }
  not_empty.notify_one();
  std::printf("got %d\n", fermata::await(reader));
}

inline void once() {
  fermata::Once schema("schema");
  int made = 0;
  const auto use = [&] {
    schema.call([&] {
      fermata::delay(3ms);
      ++made;
    });
  };
  const std::vector users = {fermata::spawn(use), fermata::spawn(use)};
  for (const auto& user : users) fermata::await(user);
  std::printf("made %d time\n", made);
}

inline void barrier() {
  fermata::Barrier round("round", 3, [] { std::printf("a round is over\n"); });
  std::vector<fermata::Coroutine<>> players;
  for (int i = 0; i < 3; ++i) {
    players.push_back(fermata::spawn("player", [&round, i] {
      for (int turn = 0; turn < 2; ++turn) {
        fermata::delay(i * 1ms);
        round.arrive_and_wait();
      }
    }));
  }
  for (const auto& player : players) fermata::await(player);
}

inline void tour() {
  exclusion();
  patience();
  permits();
  conditions();
  once();
  barrier();
}

}  // namespace guide::locks
