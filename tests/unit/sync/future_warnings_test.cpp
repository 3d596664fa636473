// SPDX-License-Identifier: Apache-2.0

// What is logged when the last handle of a future goes.

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "fermata/base/error.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sync/await.hpp"
#include "fermata/sync/future.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"
#include "tests/support/virtual_reactor.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;

constexpr SourcePlace kCreated{"created.cpp", "", 1};
constexpr SourcePlace kCompleted{"completed.cpp", "", 2};

constexpr const char* kUnused =
    "Future was never used; call await(), map(), catch_error(), finally() or ignore() to suppress "
    "this "
    "warning. Created at created.cpp:1\n";
constexpr const char* kUnhandled =
    "Unhandled exception in Future: failed; use catch_error() or ignore() to handle. Created at "
    "created.cpp:1, completed at completed.cpp:2\n";

enum class End { Value, Error, Pending };
enum Use : unsigned { kAwait = 1, kMap = 2, kCatch = 4, kFinally = 8, kIgnore = 16, kAll = 32 };

/// What the rules of the warnings say about the source alone.
std::string expected(unsigned uses, End end) {
  const bool used = (uses & (kAwait | kMap | kCatch | kFinally)) != 0;
  const bool caught = (uses & (kAwait | kCatch)) != 0;
  if ((uses & kIgnore) != 0) return "";
  if (end == End::Error && !caught) return kUnhandled;
  return used ? "" : kUnused;
}

void use(const Future<int>& future, unsigned uses, std::vector<Future<int>>& children) {
  const auto child = [&](const Future<int>& made) { children.push_back(made); };
  if ((uses & kMap) != 0) child(future.map([](int value) { return value; }));
  if ((uses & kCatch) != 0) child(future.catch_error([](const std::exception_ptr&) { return 0; }));
  if ((uses & kFinally) != 0) child(future.finally([] {}));
  if ((uses & kIgnore) != 0) future.ignore();
  if ((uses & kAwait) != 0) {
    try {
      await(future, {.timeout = 1ms});
    } catch (const Error&) {
    }
  }
}

class FutureWarningsTest : public ::testing::TestWithParam<End> {
 protected:
  TestRuntime fixture;
};

TEST_P(FutureWarningsTest, HoldForEveryCombinationOfUses) {
  FERMATA_CHECKS("FUT-11");
  const End end = GetParam();
  for (unsigned uses = 0; uses < kAll; ++uses) {
    fixture.log.clear();
    fixture.run([&] {
      std::vector<Future<int>> children;
      std::optional<Promise<int>> promise;
      promise.emplace(PromiseOptions{.name = {}, .breaks = false}, kCreated);
      if (end == End::Value) promise->complete(1, kCompleted);
      if (end == End::Error) promise->fail(Error("failed"), kCompleted);
      use(promise->future(), uses, children);
      promise.reset();
      suspend();
      // A child that ends with its source's error warns for itself; here it only must not take
      // part.
      for (const auto& child : children) child.event().mark_result_used();
    });
    std::string of_source;
    for (std::size_t from = 0; from < fixture.log.size();) {
      const std::size_t to = fixture.log.find('\n', from) + 1;
      const std::string line = fixture.log.substr(from, to - from);
      if (line.find("Created at created.cpp:1") != std::string::npos) of_source += line;
      from = to;
    }
    EXPECT_EQ(of_source, expected(uses, end)) << "uses " << uses;
  }
}

INSTANTIATE_TEST_SUITE_P(Ends, FutureWarningsTest,
                         ::testing::Values(End::Value, End::Error, End::Pending));

class FutureWarningTest : public ::testing::Test {
 protected:
  TestRuntime fixture;
};

TEST_F(FutureWarningTest, AChildThatIsHandledSpeaksForItsSource) {
  FERMATA_CHECKS("FUT-11");
  for (const bool ignores : {false, true}) {
    fixture.log.clear();
    fixture.run([&] {
      std::optional<Promise<int>> promise;
      promise.emplace(Name("source"));
      std::optional<Future<int>> child = promise->future().map([](int value) { return value; });
      promise->fail(Error("failed"));
      promise.reset();
      suspend();
      EXPECT_EQ(fixture.log, "") << "it hangs on the child";
      if (ignores) {
        child->ignore();
      } else {
        EXPECT_THROW(await(*child), Error);
      }
    });
    EXPECT_EQ(fixture.log, "");
  }
}

TEST_F(FutureWarningTest, EachOfAChainThatNobodyHandlesSaysSo) {
  FERMATA_CHECKS("FUT-11");
  fixture.run([] {
    Promise<int> promise({.name = "source"}, kCreated);
    (void)promise.future().finally([] {}, kCompleted);
    promise.fail(Error("failed"), kCompleted);
  });
  EXPECT_EQ(
      fixture.log,
      "Unhandled exception in Future: failed; use catch_error() or ignore() to handle. Created at "
      "completed.cpp:2, completed at completed.cpp:2\n"
      "Unhandled exception in Future: failed; use catch_error() or ignore() to handle. Created at "
      "created.cpp:1, completed at completed.cpp:2 ('source')\n");
}

TEST_F(FutureWarningTest, ACancelledOneIsNotUnhandled) {
  FERMATA_CHECKS("FUT-11");
  fixture.run([] {
    Promise<int> promise;
    const auto future = promise.future();
    future.map([](int value) { return value; }).ignore();
    future.cancel();
    suspend();
  });
  EXPECT_EQ(fixture.log, "");
}

TEST_F(FutureWarningTest, ATokenIsUsedAndHandled) {
  FERMATA_CHECKS("FUT-11", "EVT-07");
  fixture.run([] {
    Promise<> stop;
    {
      const auto token = stop.future();
      Promise<> other;
      EXPECT_THROW(await(other.future(), {.timeout = 1ms, .token = &token.event()}), Timeout);
    }
    stop.fail(Error("too late to matter"));
  });
  EXPECT_EQ(fixture.log, "");
}

TEST_F(FutureWarningTest, ASinkThatThrowsDoesNoHarm) {
  FERMATA_CHECKS("FUT-11");
  RuntimeOptions options;
  int lines = 0;
  options.log = [&](std::string_view) {
    ++lines;
    throw Error("disk full");
  };
  Runtime runtime(std::make_unique<VirtualReactor>(), options);
  EXPECT_EQ(runtime.run([] { (void)Promise<int>(); }), 0);
  EXPECT_EQ(lines, 1);
}

}  // namespace
}  // namespace fermata::test
