// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/net/terminal.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <functional>
#include <memory>
#include <string>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/io/signal.hpp"
#include "fermata/io/tty.hpp"
#include "fermata/sim/strategy/make_strategy.hpp"
#include "fermata/sim/tape/decisions.hpp"
#include "fermata/sim/world/world.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/main_test.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;
using test::error_of;

class TerminalTest : public ::testing::Test {
 protected:
  /// A world of one node.
  void run(std::function<void()> main) {
    node_ = &world_.node("main", std::move(main));
    world_.run();
    ASSERT_FALSE(world_.failure()) << world_.failure()->message;
  }
  [[nodiscard]] Terminal& terminal() const { return node_->terminal(); }

  std::unique_ptr<Strategy> strategy_ = make_strategy("fifo");
  Decisions decisions_{*strategy_};
  World world_{decisions_, {.faults = FaultSet::none(), .full_audit = true}};
  Node* node_ = nullptr;
};

std::string read_text(ByteStream& stream) {
  std::string text(100, '\0');
  text.resize(stream.read(std::as_writable_bytes(std::span(text))));
  return text;
}

TEST_F(TerminalTest, IsTypedOnFromOutsideTheProgram) {
  world_.at(5ms, [this] { terminal().type("from outside\n"); });
  run([] {
    auto input = TtyStream::input();
    EXPECT_EQ(read_text(input), "from outside\n");
  });
  EXPECT_EQ(terminal().take_output(), "from outside\r\n");
  EXPECT_EQ(terminal().take_output(), "");
}

MAIN_TEST_F(TerminalTest, TakesCtrlCForASignalAndForgetsTheLine) {
  auto input = TtyStream::input();
  auto interrupt = spawn("interrupt", [] { return wait_signal(SIGINT); });
  suspend();
  terminal().type("no\x03yes\n");
  await(interrupt);
  EXPECT_EQ(read_text(input), "yes\n");
}

MAIN_TEST_F(TerminalTest, GivesALineThatCtrlDEndsAndEndsAtAnEmptyOne) {
  auto input = TtyStream::input();
  terminal().type("no newline\x04");
  EXPECT_EQ(read_text(input), "no newline");
  terminal().type("\x04");
  EXPECT_EQ(read_text(input), "");
}

MAIN_TEST_F(TerminalTest, GivesWhatIsThereWhenItBecomesRaw) {
  auto input = TtyStream::input();
  terminal().type("half a li");
  auto reader = spawn("reader", [&] { return read_text(input); });
  suspend();
  input.set_mode(TerminalMode::Raw);
  EXPECT_EQ(await(reader), "half a li");
  terminal().type("\x7f\x03");
  EXPECT_EQ(read_text(input), "\x7f\x03");
}

TEST_F(TerminalTest, IsFreshInEachRun) {
  run([this] {
    auto input = TtyStream::input();
    terminal().type("unread\nand a half");
    terminal().resize({10, 10});
  });
  world_.reset();
  run([this] {
    auto input = TtyStream::input();
    EXPECT_EQ(input.window_size(), (WindowSize{80, 24}));
    EXPECT_EQ(terminal().take_output(), "");
    terminal().type("new\n");
    EXPECT_EQ(read_text(input), "new\n");
  });
}

MAIN_TEST_F(TerminalTest, RefusesWhatCannotBe) {
  EXPECT_EQ(error_of([&] {
              terminal().resize({0, 24});
            }),
            "resize: 0 columns, 24 rows: expected 1 to 65535 of each");
  terminal().hang_up();
  EXPECT_EQ(error_of([&] { terminal().type("x"); }), "type: the terminal has hung up");
}

}  // namespace
}  // namespace fermata::sim
