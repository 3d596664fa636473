// SPDX-License-Identifier: Apache-2.0
#include "fermata/loop/tracing.hpp"

#include <gtest/gtest.h>

#include <string>

#include "fermata/core/runtime.hpp"
#include "fermata/loop/loop.hpp"
#include "fermata/uv/reactor.hpp"

namespace fermata::loop {
namespace {

using namespace std::chrono_literals;

/// Runs `body` with a loop that is traced.
template <class Body>
void traced(Tracing& tracing, const Body& body) {
  Runtime runtime(uv::make_reactor(), {.handle_stop_signals = false});
  runtime.run([&] {
    Loop loop({.tracer = &tracing});
    body(loop);
  });
}

std::string error_of_enable(Loop& loop, CallbackId id) {
  try {
    loop.enable(id);
  } catch (const InvalidCallback& error) {
    EXPECT_EQ(error.id(), id);
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

bool mentions(const std::string& text, int line) {
  return text.find("tracing_test.cpp:" + std::to_string(line)) != std::string::npos;
}

TEST(Tracing, AnErrorSaysWhereTheCallbackWasRegisteredAndCancelled) {
  Tracing tracing;
  traced(tracing, [](Loop& loop) {
    const int registered = __LINE__ + 1;
    const CallbackId id = loop.delay(1s, [] {});
    const int cancelled = __LINE__ + 1;
    loop.cancel(id);
    const std::string text = error_of_enable(loop, id);
    EXPECT_TRUE(mentions(text, registered)) << text;
    EXPECT_TRUE(mentions(text, cancelled)) << text;
    EXPECT_NE(text.find("delay"), std::string::npos) << text;
  });
}

TEST(Tracing, AnErrorSaysThatACallbackHasRun) {
  Tracing tracing;
  traced(tracing, [](Loop& loop) {
    const CallbackId id = loop.defer([] {});
    loop.run();
    const std::string text = error_of_enable(loop, id);
    EXPECT_NE(text.find("which has run"), std::string::npos) << text;
    EXPECT_EQ(text.find("cancelled"), std::string::npos) << text;
  });
}

TEST(Tracing, NothingIsSaidOfAnIdThatWasNeverGiven) {
  Tracing tracing;
  traced(tracing, [&](Loop& loop) {
    EXPECT_EQ(tracing.history(4711), "");
    (void)error_of_enable(loop, 4711);
  });
}

TEST(Tracing, RemembersTheLastOfThoseThatHaveEnded) {
  Tracing tracing(3);
  traced(tracing, [&](Loop& loop) {
    const CallbackId live = loop.delay(1s, [] {});
    std::vector<CallbackId> ended;
    for (int number = 0; number < 5; ++number) {
      ended.push_back(loop.defer([] {}));
      loop.cancel(ended.back());
    }
    EXPECT_EQ(tracing.ended_count(), 3u);
    EXPECT_EQ(tracing.history(ended[1]), "");
    EXPECT_NE(tracing.history(ended[2]), "");
    EXPECT_NE(tracing.history(live), "");
    loop.cancel(live);
  });
}

TEST(Tracing, DumpsWhatLivesInTheOrderOfRegistration) {
  Tracing tracing;
  traced(tracing, [&](Loop& loop) {
    const CallbackId first = loop.repeat(1s, [] {});
    const CallbackId second = loop.defer([] {});
    loop.cancel(loop.delay(1s, [] {}));
    const std::vector<std::string> lines = tracing.dump();
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_TRUE(lines[0].starts_with(std::to_string(first) + ": repeat registered at "))
        << lines[0];
    EXPECT_TRUE(lines[1].starts_with(std::to_string(second) + ": defer registered at "))
        << lines[1];
    loop.cancel(first);
    loop.cancel(second);
  });
  EXPECT_TRUE(tracing.dump().empty());
}

}  // namespace
}  // namespace fermata::loop
