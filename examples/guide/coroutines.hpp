// SPDX-License-Identifier: Apache-2.0
#pragma once

// The code of docs/guide/coroutines.md, so that what the page shows is compiled and run.

#include <chrono>
#include <cstdio>
#include <fermata/runtime.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace guide::coroutines {

using namespace std::chrono_literals;

inline void results() {
  auto answer = fermata::spawn("answer", [] {
    fermata::delay(10ms);
    return 42;
  });
  std::printf("the answer is %d\n", fermata::await(answer));
}

inline void errors() {
  auto parser = fermata::spawn("parser", [] { throw std::invalid_argument("line 3: no colon"); });
  try {
    fermata::await(parser);
  } catch (const std::invalid_argument& error) {
    std::printf("parser failed: %s\n", error.what());
  }
}

inline void cancellation() {
  auto poller = fermata::spawn("poller", [] {
    try {
      for (;;) fermata::delay(1h);
    } catch (const fermata::Cancellation& reason) {
      std::printf("poller stops: %s\n", reason.what());
      throw;
    }
  });
  fermata::suspend();
  poller.cancel();
}

inline void protection() {
  auto transfer = fermata::spawn("transfer", [] {
    fermata::protect([] {
      std::printf("debit\n");
      fermata::delay(5ms);
      std::printf("credit\n");  // Whatever happens to the coroutine meanwhile.
    });
  });
  fermata::delay(1ms);
  transfer.cancel();
}

struct Session {
  ~Session() {
    fermata::protect_in_destructor([] { fermata::delay(1ms); });  // The last words to a peer.
  }
};

inline void destructors() {
  auto served = fermata::spawn("served", [] { const Session session; });
  fermata::suspend();
  served.cancel();  // It still ends its session.
}

inline void timeouts() {
  auto slow = fermata::spawn("slow", [] { fermata::delay(1s); });
  try {
    fermata::await(slow, {.timeout = 20ms});
  } catch (const fermata::Timeout& error) {
    std::printf("%s\n", error.what());
  }
  slow.cancel();
}

inline void clean_up() {
  auto job = fermata::spawn("job", [] { fermata::delay(1ms); });
  job->finally([](fermata::CoroutineBase& ended) {
    std::printf("%s has ended\n", std::string(ended.name()).c_str());
  });
  fermata::await(job);
}

inline void blocking_work() {
  const auto primes = fermata::offload([] {
    std::vector<int> found;
    for (int n = 2; n < 30; ++n) {
      bool prime = true;
      for (int p : found) prime = prime && n % p != 0;
      if (prime) found.push_back(n);
    }
    return found.size();
  });
  std::printf("%zu primes below 30\n", primes);
}

inline void priorities() {
  const auto report = fermata::spawn("report", [] { std::printf("the report is written\n"); });
  const auto alarm = fermata::spawn("alarm", [] { std::printf("the alarm comes first\n"); });
  alarm->set_priority(fermata::Priority::High);
  fermata::await(report);
}

inline void call_stacks() {
  const auto job = fermata::spawn("job", [] { fermata::delay(1h); });
  fermata::suspend();
  const std::vector<const void*> addresses = job->call_stack();
  std::printf("%s has %s\n", std::string(job->name()).c_str(),
              addresses.empty() ? "no stack" : "a stack");  // For addr2line.
  job.cancel();
}

inline void tour() {
  results();
  errors();
  cancellation();
  protection();
  destructors();
  timeouts();
  clean_up();
  blocking_work();
  priorities();
  call_stacks();
}

}  // namespace guide::coroutines
