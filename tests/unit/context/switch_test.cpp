// SPDX-License-Identifier: Apache-2.0
#include "fermata/context/switch.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cfenv>
#include <cstdlib>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "fermata/context/stack_fault.hpp"
#include "tests/unit/context/stage.hpp"

namespace fermata {
namespace {

using detail::StackContext;
using testing::Stage;

std::string rethrown_text() {
  try {
    throw;
  } catch (const std::exception& error) {
    return error.what();
  }
}

// A frame that the compiler neither inlines nor turns into a loop.
[[gnu::noinline]] int sum_down_to_zero(Stage& stage, int depth) {
  if (depth == 0) {
    stage.pause();
    return 0;
  }
  const int rest = sum_down_to_zero(stage, depth - 1);
  return rest + depth;
}

TEST(Switch, SuspendsFromRecursion) {
  Stage stage;
  int sum = 0;
  StackContext& deep = stage.start([&] { sum = sum_down_to_zero(stage, 100); });
  StackContext& deeper = stage.start([&] { sum += 10 * sum_down_to_zero(stage, 200); });
  EXPECT_EQ(sum, 0);
  stage.resume(deep);
  EXPECT_EQ(sum, 5050);
  stage.resume(deeper);
  EXPECT_EQ(sum, 5050 + 201000);
}

TEST(Switch, SuspendsInsideAComparatorOfQsort) {
  static Stage* comparing_stage;
  Stage stage;
  comparing_stage = &stage;
  std::vector<int> numbers{5, 3, 9, 1, 7};
  bool sorted = false;
  StackContext& sorter = stage.start([&] {
    std::qsort(numbers.data(), numbers.size(), sizeof(int), [](const void* a, const void* b) {
      comparing_stage->pause();
      return *static_cast<const int*>(a) - *static_cast<const int*>(b);
    });
    sorted = true;
  });
  int pauses = 0;
  while (!sorted) {
    stage.resume(sorter);
    ++pauses;
  }
  EXPECT_GE(pauses, 4);
  EXPECT_EQ(numbers, (std::vector<int>{1, 3, 5, 7, 9}));
}

TEST(Switch, KeepsCaughtExceptionsApart) {
  Stage stage;
  std::vector<std::string> texts;
  const auto catch_and_pause = [&](const char* text) {
    try {
      throw std::runtime_error(text);
    } catch (const std::exception&) {
      stage.pause();
      texts.push_back(rethrown_text());
    }
  };
  StackContext& first = stage.start([&] { catch_and_pause("first"); });
  StackContext& second = stage.start([&] { catch_and_pause("second"); });
  EXPECT_EQ(std::current_exception(), nullptr);
  stage.resume(first);
  stage.resume(second);
  EXPECT_EQ(texts, (std::vector<std::string>{"first", "second"}));
}

TEST(Switch, KeepsUncaughtExceptionsApart) {
  struct PausesWhenDestroyed {
    Stage& stage;
    std::vector<int>& counts;
    ~PausesWhenDestroyed() {
      counts.push_back(std::uncaught_exceptions());
      stage.pause();
      counts.push_back(std::uncaught_exceptions());
    }
  };
  Stage stage;
  std::vector<int> counts;
  StackContext& unwinding = stage.start([&] {
    try {
      const PausesWhenDestroyed pauses{stage, counts};
      throw std::runtime_error("unwinds");
    } catch (const std::exception&) {
      counts.push_back(std::uncaught_exceptions());
    }
  });
  EXPECT_EQ(std::uncaught_exceptions(), 0);
  stage.start([&] { counts.push_back(std::uncaught_exceptions() + 100); });
  stage.resume(unwinding);
  EXPECT_EQ(counts, (std::vector<int>{1, 100, 1, 0}));
}

TEST(Switch, KeepsErrnoApart) {
  Stage stage;
  int seen = 0;
  errno = ENOENT;
  StackContext& context = stage.start([&] {
    EXPECT_EQ(errno, 0);
    errno = EPIPE;
    stage.pause();
    seen = errno;
  });
  EXPECT_EQ(errno, ENOENT);
  errno = EINTR;
  stage.resume(context);
  EXPECT_EQ(seen, EPIPE);
  EXPECT_EQ(errno, EINTR);
}

TEST(Switch, StartsAContextWithoutItsStartersExceptions) {
  Stage stage;
  bool clean = false;
  try {
    throw std::runtime_error("being handled");
  } catch (const std::exception&) {
    stage.start([&] { clean = std::current_exception() == nullptr; });
    EXPECT_EQ(rethrown_text(), "being handled");
  }
  EXPECT_TRUE(clean);
}

TEST(Switch, DestroysExceptionsOnceAndOnTheirOwnContext) {
  Stage stage;
  const auto token = std::make_shared<int>(0);
  const auto hold = [&] {
    try {
      throw token;
    } catch (const std::shared_ptr<int>&) {
      stage.pause();
    }
  };
  StackContext& first = stage.start(hold);
  StackContext& second = stage.start(hold);
  EXPECT_EQ(token.use_count(), 3);
  stage.resume(first);
  stage.resume(second);
  EXPECT_EQ(token.use_count(), 1);
}

TEST(Switch, KeepsRoundingModesApart) {
  Stage stage;
  int seen = 0;
  StackContext& upward = stage.start([&] {
    std::fesetround(FE_UPWARD);
    stage.pause();
    seen = std::fegetround();
  });
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
  stage.resume(upward);
  EXPECT_EQ(seen, FE_UPWARD);
  std::fesetround(FE_DOWNWARD);
  stage.start([&] { seen = std::fegetround(); });
  EXPECT_EQ(std::fegetround(), FE_DOWNWARD);
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(seen, FE_TONEAREST) << "a new context inherited its starter's rounding";
}

// Otherwise every later switch of the whole program stalls; see float_state.hpp.
TEST(Switch, ArithmeticLeavesFloatStatesEqual) {
  Stage stage;
  const auto state_at_home = detail::float_state();
  volatile double divisor = 3.0;
  volatile double quotient = 1.0 / divisor;
  stage.start([&] {
    EXPECT_TRUE(detail::float_state() == state_at_home);
    divisor = 7.0;
    quotient = 1.0 / divisor;
    EXPECT_TRUE(detail::float_state() == state_at_home);
  });
  EXPECT_TRUE(detail::float_state() == state_at_home);
  EXPECT_GT(quotient, 0.0);
}

TEST(Switch, SwitchesBetweenContextsDirectly) {
  Stage stage;
  std::string trace;
  StackContext* second = nullptr;
  StackContext& first = stage.start([&] {
    StackContext& self = *stage.running;
    stage.pause();
    trace += "1";
    detail::switch_context(self, *second);
    trace += "3";
  });
  second = &stage.start([&] {
    StackContext& self = *stage.running;
    stage.pause();
    trace += "2";
    detail::switch_context(self, first);
  });
  stage.resume(first);
  EXPECT_EQ(trace, "123");
}

// Calls nothing that the compiler can see: on x86-64 its numbers could lie below the stack pointer,
// where a switch pushes. GCC needs to be told to compile it as the libraries are.
#ifndef __clang__
[[gnu::optimize("O2")]]
#endif
[[gnu::noinline]] int
sum_across_a_switch(StackContext& from, StackContext& to) {
  volatile int numbers[] = {1, 2, 3, 4, 5, 6, 7, 8};
  detail::switch_context(from, to);
  int sum = 0;
  for (const volatile int& number : numbers) sum += number;
  return sum;
}

TEST(Switch, KeepsTheFrameOfAFunctionWithoutCalls) {
  Stage stage;
  int sum = 0;
  StackContext& context =
      stage.start([&] { sum = sum_across_a_switch(*stage.running, stage.home); });
  stage.resume(context);
  EXPECT_EQ(sum, 36);
}

bool holds(const StackContext& context, const void* address) {
  return context.stack_low <= address && address < context.stack_high;
}

TEST(ThreadStack, HasTheBoundsOfItsThread) {
  const auto check = [] {
    StackContext context;
    detail::adopt_thread_stack(context);
    EXPECT_TRUE(holds(context, __builtin_frame_address(0)));
    detail::drop_thread_stack(context);
    EXPECT_EQ(context.stack_low, nullptr);
  };
  check();
  std::thread(check).join();
}

TEST(ThreadStack, HasTheBoundsOfTheContextItIs) {
  Stage stage;
  const detail::StackFaultGuard guard(&stage.running, [](void*, char*, std::size_t) noexcept {});
  bool inner_ran = false;
  stage.start([&] {
    const StackContext& self = *stage.running;
    Stage inner;
    EXPECT_EQ(inner.home.stack_low, self.stack_low);
    EXPECT_EQ(inner.home.stack_high, self.stack_high);
    inner.start([&] { inner_ran = true; });
  });
  EXPECT_TRUE(inner_ran);
}

TEST(ThreadStack, MayBeOneOfUnknownBounds) {
  Stage stage;
  std::string trace;
  StackContext& outer = stage.start([&] {
    Stage inner;
    EXPECT_EQ(inner.home.stack_low, nullptr);
    StackContext& nested = inner.start([&] {
      inner.pause();
      trace += "nested";
    });
    stage.pause();
    inner.resume(nested);
  });
  stage.resume(outer);
  EXPECT_EQ(trace, "nested");
}

}  // namespace
}  // namespace fermata
