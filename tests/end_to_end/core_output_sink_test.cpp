// SPDX-License-Identifier: Apache-2.0

// Switch handlers in earnest: a program writes to one global sink, as if it ran from its first line
// to its last; every coroutine still gets an output buffer of its own, and no text gets mixed.

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"
#include "tests/support/virtual_reactor.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;

/// Where the program writes now. It knows nothing of coroutines.
std::string* sink = nullptr;

void print(const std::string& text) { *sink += text; }

/// The buffer of one coroutine: it is the sink while the coroutine runs.
class OutputBuffer final : public backend::SwitchHandler {
 public:
  bool on_switch(CoroutineBase&, backend::SwitchMoment moment) override {
    if (moment == backend::SwitchMoment::Enter) {
      begin();
    } else {
      end();
    }
    return true;
  }

  void begin() { below_ = std::exchange(sink, &text); }
  void end() { sink = std::exchange(below_, nullptr); }

  std::string text;

 private:
  std::string* below_ = nullptr;
};

class OutputSink : public ::testing::Test {
 protected:
  OutputSink() { sink = &console; }
  ~OutputSink() override { EXPECT_EQ(sink, &console) << "everybody has left the sink"; }

  template <class Body>
  static auto spawn_buffered(const std::shared_ptr<OutputBuffer>& buffer, Body body) {
    const auto coroutine = spawn(body);
    coroutine->add_switch_handler(buffer);
    return coroutine;
  }

  TestRuntime fixture;
  std::string console;
};

void print_slowly(const std::string& word, int depth) {
  for (const char letter : word) {
    print(std::string(1, letter));
    if (depth % 2 == 0) {
      suspend();
    } else {
      delay(1ms);
    }
  }
  if (depth > 0) print_slowly(word, depth - 1);
}

TEST_F(OutputSink, OfEachCoroutineIsItsOwn) {
  FERMATA_CHECKS("CORE-SC-17");
  const auto main_buffer = std::make_shared<OutputBuffer>();
  fixture.runtime.add_main_start_handler(main_buffer);
  const auto hello = std::make_shared<OutputBuffer>();
  const auto world = std::make_shared<OutputBuffer>();
  fixture.run([&] {
    print("main begins, ");
    const auto first = spawn_buffered(hello, [] { print_slowly("hello", 3); });
    const auto second = spawn_buffered(world, [] { print_slowly("world", 3); });
    const auto plain = spawn([] { print("of nobody, "); });
    await(first);
    print("main goes on, ");
    await(second);
    await(plain);
    print("main ends");
  });
  EXPECT_EQ(hello->text, "hellohellohellohello");
  EXPECT_EQ(world->text, "worldworldworldworld");
  EXPECT_EQ(main_buffer->text, "main begins, main goes on, main ends");
  EXPECT_EQ(console, "of nobody, ");
}

TEST_F(OutputSink, IsLeftWhateverTheEnd) {
  const auto thrown = std::make_shared<OutputBuffer>();
  const auto cancelled = std::make_shared<OutputBuffer>();
  const auto never_ran = std::make_shared<OutputBuffer>();
  fixture.run([&] {
    const auto throws = spawn_buffered(thrown, [] {
      print("before the error");
      suspend();
      throw Error("x");
    });
    const auto sleeps = spawn_buffered(cancelled, [] {
      try {
        print("asleep");
        delay(1h);
      } catch (const Cancellation&) {
        print(", woken");
        throw;
      }
    });
    suspend();
    sleeps.cancel();
    EXPECT_THROW(await(throws), Error);
    EXPECT_THROW(await(sleeps), Cancellation);
    print("on the console");
  });
  EXPECT_EQ(thrown->text, "before the error");
  EXPECT_EQ(cancelled->text, "asleep, woken");
  EXPECT_EQ(console, "on the console");
}

TEST_F(OutputSink, CanBeRedirectedForAWhile) {
  fixture.run([&] {
    const auto other = spawn([] {
      for (int i = 0; i < 4; ++i) {
        print("-");
        suspend();
      }
    });
    const auto buffer = std::make_shared<OutputBuffer>();
    print("1");
    buffer->begin();
    add_switch_handler(buffer);
    print("2");
    suspend();
    print("3");
    suspend();
    buffer->end();
    current_coroutine().remove_switch_handler(*buffer);
    print("4");
    EXPECT_EQ(buffer->text, "23");
    await(other);
  });
  EXPECT_EQ(console, "1--4--");
}

}  // namespace
}  // namespace fermata::test
