// SPDX-License-Identifier: Apache-2.0
#pragma once

// The code of docs/guide/cancellation.md.

#include <chrono>
#include <cstdio>
#include <fermata/runtime.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace guide::cancellation {

using namespace std::chrono_literals;

/// Stands for a request to some server.
inline fermata::Coroutine<std::string> fetch(const std::string& name, fermata::Duration takes) {
  return fermata::spawn(fermata::Name(name), [name, takes] {
    fermata::delay(takes);
    return name;
  });
}

inline fermata::Coroutine<std::string> fetch_from_broken(const std::string& name) {
  return fermata::spawn(fermata::Name(name), [name]() -> std::string {
    fermata::delay(10ms);
    throw fermata::Error(name + " is down");
  });
}

inline void tokens() {
  auto stop = fermata::spawn("stop", [] { fermata::delay(5ms); });
  auto slow = fetch("slow", 1s);
  try {
    fermata::await(slow, {.token = &stop.event()});
  } catch (const fermata::OperationCancelled&) {
    std::printf("gave up; slow %s\n", slow->is_completed() ? "has ended" : "goes on");
  }
  slow.cancel();
}

inline void whose_cancellation() {
  auto helper = fetch("helper", 1s);
  fermata::suspend();
  helper.cancel();
  try {
    fermata::await(helper);
  } catch (const fermata::AwaitedCancelled& awaited) {
    std::printf("%s\n", awaited.what());  // This coroutine itself goes on.
  }
}

inline void limits_for_code() {
  int answered = 0;
  try {
    fermata::within({.timeout = 20ms}, [&] {
      for (;;) {
        fermata::await(fetch("part", 6ms));
        ++answered;
      }
    });
  } catch (const fermata::Timeout&) {
    std::printf("%d parts in time\n", answered);
  }
}

inline void one_deadline() {
  const auto deadline = fermata::make_timeout(20ms);
  int answered = 0;
  try {
    for (int i = 0; i < 10; ++i) {
      auto answer = fetch("part", 3ms);
      fermata::await(answer, {.token = deadline.get()});
      ++answered;
    }
  } catch (const fermata::OperationCancelled& cancelled) {
    std::printf("%d parts, then: %s\n", answered,
                fermata::message_of(cancelled.previous()).c_str());
  }
}

inline void all_or_fail() {
  const std::vector<std::string> parts =
      fermata::when_all({fetch("head", 5ms), fetch("body", 2ms)});
  std::printf("%s, %s\n", parts[0].c_str(), parts[1].c_str());
}

inline void all_with_errors() {
  std::map<std::string, fermata::Coroutine<std::string>> mirrors;
  mirrors.emplace("east", fetch("east", 5ms));
  mirrors.emplace("west", fetch_from_broken("west"));
  const auto [values, errors] = fermata::when_all_settled(mirrors);
  for (const auto& [key, value] : values) std::printf("%s answers\n", key.c_str());
  for (const auto& [key, error] : errors) {
    std::printf("%s: %s\n", key.c_str(), fermata::message_of(error).c_str());
  }
}

inline void race() {
  const std::vector servers{fetch_from_broken("near"), fetch("far", 15ms), fetch("moon", 1h)};
  const fermata::AwaitOptions options{.timeout = 1s, .on_exit = fermata::ExitPolicy::CancelAndJoin};
  const auto [winner, errors] = fermata::when_any_succeeds(servers, options);
  std::printf("%s, after %zu error\n", winner ? winner->c_str() : "nobody", errors.size());
}

inline void lazily() {
  int next = 0;
  const auto pages = [&]() -> std::optional<fermata::Coroutine<std::string>> {
    if (next == 100) return std::nullopt;
    return fetch("page " + std::to_string(next++), 1ms);
  };
  const auto all = fermata::when_all(pages, {.concurrency = 8});
  std::printf("%zu pages, the last is %s\n", all.size(), all.back().c_str());
}

inline void tour() {
  tokens();
  whose_cancellation();
  limits_for_code();
  one_deadline();
  all_or_fail();
  all_with_errors();
  race();
  lazily();
}

}  // namespace guide::cancellation
