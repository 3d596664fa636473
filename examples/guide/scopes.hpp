// SPDX-License-Identifier: Apache-2.0
#pragma once

// The code of docs/guide/scopes.md, so that what the page shows is compiled and run.

#include <chrono>
#include <cstdio>
#include <fermata/runtime.hpp>
#include <stdexcept>
#include <string>

namespace guide::scopes {

using namespace std::chrono_literals;

inline void waiting() {
  int answered = 0;
  fermata::Scope sessions("sessions");
  for (int i = 0; i < 3; ++i) {
    sessions.spawn("session", [&, i] {
      fermata::delay(i * 1ms);
      ++answered;
    });
  }
  sessions.await_completion();
  std::printf("%d sessions have ended\n", answered);
}

inline void cancelling() {
  fermata::Scope pollers("pollers");
  pollers.spawn("poller", [] {
    for (;;) fermata::delay(1h);
  });
  fermata::suspend();
  pollers.cancel();
  pollers.await_after_cancellation();
  std::printf("no poller is left\n");
}

inline void zombies() {
  fermata::Scope writers("writers");
  writers.set_started_members(fermata::StartedMembers::LetRun);
  writers.spawn("writer", [] {
    fermata::delay(5ms);
    std::printf("the last line is written\n");
  });
  fermata::suspend();
  writers.cancel();
  writers.await_after_cancellation();
}

inline void errors() {
  fermata::Scope jobs("jobs");
  jobs.set_exception_handler(
      [](fermata::ScopeBase&, fermata::CoroutineBase& failed, const std::exception_ptr& error) {
        std::printf("%s failed: %s\n", std::string(failed.name()).c_str(),
                    fermata::message_of(error).c_str());
      });
  jobs.spawn("parser", [] { throw std::runtime_error("line 3: no colon"); });
  jobs.await_completion();
}

inline void deadlines() {
  fermata::Scope search("search");
  search.spawn("thorough", [] { fermata::delay(1h); });
  search.cancel({.after = 20ms});
  try {
    search.await_completion();
  } catch (const fermata::Cancellation& reason) {
    std::printf("%s\n", reason.what());
  }
}

inline void clean_up() {
  fermata::Scope request("request");
  request.finally([](fermata::ScopeBase& scope) {
    std::printf("%s is over\n", std::string(scope.name()).c_str());
  });
  request.spawn("handler", [] { fermata::delay(1ms); });
  request.await_completion();
  request.cancel();
}

inline void values() {
  fermata::Scope request("request");
  request.context().set("user", std::string("ada"));
  request.spawn("handler", [] {
    fermata::Scope part("part");
    part.spawn("query", [] {
      std::printf("for %s\n", fermata::current_context().get<std::string>("user").c_str());
    });
    part.await_completion();
  });
  request.await_completion();
}

inline void tour() {
  waiting();
  cancelling();
  zombies();
  errors();
  deadlines();
  clean_up();
  values();
}

}  // namespace guide::scopes
