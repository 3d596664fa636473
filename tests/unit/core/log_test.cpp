// SPDX-License-Identifier: Apache-2.0
#include "fermata/core/log.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <iostream>
#include <memory>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/core/runtime.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/core/timer.hpp"
#include "tests/support/events.hpp"
#include "tests/support/virtual_reactor.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;

/// What is written to the standard error stream while it lives.
class StandardError {
 public:
  StandardError() : before_(std::clog.rdbuf(text_.rdbuf())) {}
  StandardError(const StandardError&) = delete;
  StandardError& operator=(const StandardError&) = delete;
  ~StandardError() { std::clog.rdbuf(before_); }

  [[nodiscard]] std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  std::streambuf* before_;
};

struct Kept {
  std::string text;
  std::string runtime;
  std::string coroutine;
  std::int64_t at;
  std::string place;
};

/// What `body` logs as the main coroutine of a runtime called "shop".
std::vector<Kept> logged_by(const std::function<void()>& body) {
  std::vector<Kept> kept;
  RuntimeOptions options;
  options.name = "shop";
  options.log_sink = [&](const LogLine& line) {
    kept.push_back({std::string(line.text), std::string(line.runtime), std::string(line.coroutine),
                    line.time.nanoseconds, line.place.text()});
  };
  TestRuntime fixture(options);
  fixture.run(body);
  return kept;
}

TEST(Log, TellsItsSinkWhoSaysWhatAndWhen) {
  const auto kept = logged_by([] {
    delay(1500us);
    spawn("worker", [] { log_line("at work\n"); });
  });
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].text, "at work");
  EXPECT_EQ(kept[0].runtime, "shop");
  EXPECT_EQ(kept[0].coroutine, "worker");
  EXPECT_EQ(kept[0].at, 1'001'500'000);
}

TEST(Log, KnowsThePlaceOfTheMacro) {
  const auto kept = logged_by([] { FERMATA_LOG("here"); });
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_NE(kept[0].place.find("log_test.cpp:"), std::string::npos) << kept[0].place;
}

TEST(Log, HasNoCoroutineInACallback) {
  Probe probe;
  probe.action = [](Event&) { log_line("due"); };
  const auto kept = logged_by([&] {
    const auto timer = make_timer(current_runtime(), 1ms);
    timer->add_callback(probe);
    timer->start();
    delay(2ms);
  });
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].coroutine, "");
}

enum class Colour { Red = 3 };

struct Point {
  int x;
  int y;
};
std::ostream& operator<<(std::ostream& stream, const Point& point) {
  return stream << '(' << point.x << ", " << point.y << ')';
}

struct Named {};
std::string to_string(const Named&) { return "named"; }

TEST(Log, PutsTheTextsOfItsArgumentsTogether) {
  EXPECT_EQ(detail::log_text(), "");
  EXPECT_EQ(detail::log_text("took ", 3, " of ", 4u, ' ', true), "took 3 of 4 true");
  EXPECT_EQ(detail::log_text(std::string("a"), std::string_view("b"), 0.5), "ab0.5");
  EXPECT_EQ(detail::log_text(Colour::Red, Point{1, 2}, Named{}), "3(1, 2)named");
}

TEST(Log, WritesSpansInTheLargestUnitThatFits) {
  EXPECT_EQ(detail::log_text(2s), "2 s");
  EXPECT_EQ(detail::log_text(1500ms), "1500 ms");
  EXPECT_EQ(detail::log_text(-7us), "-7 us");
  EXPECT_EQ(detail::log_text(1ns), "1 ns");
}

TEST(Log, GoesToTheStandardErrorStreamWithoutASink) {
  TestRuntime fixture;
  const StandardError error;
  fixture.run([] {
    delay(1500us);
    FERMATA_LOG("took ", 1);
  });
  EXPECT_EQ(error.text(), "[1970-01-01T00:00:01.001Z 'main'] took 1\n");
}

TEST(Log, IsTheTextAloneOutsideOfARun) {
  const StandardError error;
  log_line("before it all\n");
  EXPECT_EQ(error.text(), "before it all\n");
}

TEST(Log, IsAFunctionForOtherLoggers) {
  const std::function<void(std::string_view)> write = log_line;
  const auto kept = logged_by([&] { write("from elsewhere"); });
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].text, "from elsewhere");
}

}  // namespace
}  // namespace fermata::test
