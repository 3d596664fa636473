// SPDX-License-Identifier: Apache-2.0
#pragma once

// The code of docs/guide/channels.md, so that what the page shows is compiled and run.

#include <chrono>
#include <cstdio>
#include <fermata/runtime.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace guide::channels {

using namespace std::chrono_literals;

inline void hand_over() {
  const fermata::Channel<std::string> words("words", 2);
  const auto reader = fermata::spawn("reader", [words] {
    for (std::string& word : words) std::printf("%s\n", word.c_str());
  });
  for (const char* word : {"tie", "slur", "fermata"}) words.send(word);
  words.close();
  fermata::await(reader);
}

inline void rendezvous() {
  const fermata::Channel<int> meeting("meeting", 0);
  const auto giver = fermata::spawn("giver", [meeting] { meeting.send(7); });
  std::printf("got %d\n", meeting.recv());
  fermata::await(giver);
}

inline void without_waiting() {
  fermata::Channel<std::vector<int>> inbox("inbox", 1);
  std::vector<int> letter{1, 2, 3};
  if (!inbox.try_send(std::move(letter))) std::printf("the inbox is full\n");
  std::vector<int> another{4};
  if (!inbox.try_send(std::move(another))) std::printf("still mine: %zu\n", another.size());
  while (const auto received = inbox.try_recv()) std::printf("%zu numbers\n", received->size());
}

inline void first_of_two() {
  const fermata::Channel<int> prices("prices", 4);
  const fermata::Future<int> price = prices.recv_async();
  prices.send(42);
  std::printf("the price is %d\n", fermata::await(price));
}

inline void whichever_comes_first() {
  const fermata::Channel<int> orders("orders", 4);
  const fermata::Channel<int> returns("returns", 4);
  const auto shop = fermata::spawn("shop", [=] {
    fermata::delay(5ms);
    returns.send(3);
  });
  const auto tell = [](const char* what) {
    return [what](std::optional<int> number) {
      if (number) std::printf("%s %d\n", what, *number);
      return number.has_value();
    };
  };
  const auto close = [] {
    std::printf("closing time\n");
    return false;
  };
  for (bool open = true; open;) {
    open = fermata::select(fermata::on_receive(orders, tell("order")),
                           fermata::on_receive(returns, tell("return")),
                           fermata::on_timeout(20ms, close));
  }
  fermata::await(shop);
}

inline void if_it_fits() {
  const fermata::Channel<std::string> narrow("narrow", 1);
  for (std::string word : {"first", "second"}) {
    fermata::select(
        fermata::on_send(narrow, std::move(word), [] { std::printf("sent\n"); }),
        fermata::on_timeout(0ms, [&] { std::printf("no room for %s\n", word.c_str()); }));
  }
}

inline void patience() {
  const fermata::Channel<int> silent("silent", 1);
  try {
    static_cast<void>(silent.recv({.timeout = 10ms}));
  } catch (const fermata::Timeout& error) {
    std::printf("%s\n", error.what());
  }
}

inline void ends() {
  const fermata::Channel<int> jobs("jobs", 2);
  jobs.send(1);
  jobs.close();
  std::printf("left: %d\n", jobs.recv());
  try {
    jobs.send(2);
  } catch (const fermata::ChannelError& error) {
    std::printf("%s\n", error.what());
  }
}

inline void guards() {
  const fermata::Channel<int> orphan("orphan", 0, {.no_producer_timeout = 1s});
  try {
    static_cast<void>(orphan.recv());
  } catch (const fermata::ChannelError& error) {
    std::printf("%s\n", error.what());
  }
}

inline void tour() {
  hand_over();
  rendezvous();
  without_waiting();
  first_of_two();
  whichever_comes_first();
  if_it_fits();
  patience();
  ends();
  guards();
}

}  // namespace guide::channels
