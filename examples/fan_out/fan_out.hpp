// SPDX-License-Identifier: Apache-2.0
#pragma once

// One question to many backends, and what they have answered when the time is over.

#include <algorithm>
#include <fermata/runtime.hpp>
#include <functional>
#include <string>
#include <vector>

struct Backend {
  std::string name;
  std::function<int()> ask;  // May suspend, and may throw.
};

/// The answers that arrive within `span`, in the order of their arrival. A backend that fails gives
/// none. Nothing that was begun here goes on afterwards.
inline std::vector<int> ask_all(const std::vector<Backend>& backends, fermata::Duration span) {
  const fermata::Instant end = fermata::now() + span;
  fermata::Channel<int> answers("answers", backends.size());
  // At its end it stops who has not answered by then, and waits for them. Without that they would
  // go on behind the caller's back, with references to backends that may be gone.
  fermata::Scope asking("asking");
  asking.set_exception_handler([](auto&...) {});
  for (const Backend& backend : backends) {
    asking.spawn(backend.name, [&backend, answers] { answers.send(backend.ask()); });
  }
  std::vector<int> arrived;
  try {
    while (!asking.is_finished() || !answers.is_empty()) {
      const auto left = std::max(end - fermata::now(), fermata::Duration::zero());
      arrived.push_back(answers.recv({.timeout = left}));
    }
  } catch (const fermata::Timeout&) {
  }
  return arrived;
}
