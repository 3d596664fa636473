// SPDX-License-Identifier: Apache-2.0
#pragma once

// A runtime whose every step is recounted, for the tests of scopes.

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "fermata/base/error.hpp"
#include "fermata/core/scope.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"
#include "tests/support/recount.hpp"
#include "tests/support/runtime_fixture.hpp"
#include "tests/support/steps.hpp"
#include "tests/support/virtual_reactor.hpp"

namespace fermata::test {

using namespace std::chrono_literals;

class ScopeTest : public ::testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(recount.complaints(), Steps());
    EXPECT_TRUE(runtime.kernel().live_events.empty()) << "events outlive the run";
    EXPECT_EQ(runtime.active_event_count(), 0u);
  }

  template <class Body>
  int run(Body&& body) {
    return fixture.run(std::forward<Body>(body));
  }

  static RuntimeOptions watched_by(backend::Observer& observer) {
    RuntimeOptions options;
    options.observer = &observer;
    return options;
  }

  /// A body that notes its beginning and its end, `span` later, or that it was cancelled.
  [[nodiscard]] auto worker(std::string name, Duration span = 10ms) {
    return [this, name = std::move(name), span] {
      steps.push_back(name + " begins");
      try {
        delay(span);
        steps.push_back(name + " ends");
      } catch (const Cancellation& cancellation) {
        steps.push_back(name + ": " + cancellation.what());
        throw;
      }
    };
  }

  Recount recount;
  TestRuntime fixture{watched_by(recount)};
  Runtime& runtime = fixture.runtime;
  Steps steps;
};

}  // namespace fermata::test
