// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/io/pipe.hpp"
#include "fermata/io/tty.hpp"
#include "fermata/sync/await.hpp"
#include "tests/conformance/main_typed_test.hpp"
#include "tests/conformance/reading.hpp"
#include "tests/conformance/terminals.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/open_descriptors.hpp"

namespace fermata::conformance {
namespace {

using namespace std::chrono_literals;
using test::error_of;
using test::open_descriptors;

template <class Arm>
class Tty : public ::testing::Test {};
TYPED_TEST_SUITE(Tty, Arms);

MAIN_TYPED_TEST(Tty, InputComesByLinesAndIsEchoed) {
  FERMATA_CHECKS("IO-02");
  User<TypeParam> user;
  auto input = TtyStream::input();
  EXPECT_TRUE(input.is_terminal());
  EXPECT_EQ(input.handle().io_type(), backend::IoType::Tty);
  auto reader = spawn("reader", [&] { return read_text(input); });
  suspend();
  user.type("one\n");
  EXPECT_EQ(await(reader), "one\n");
  user.type("par");
  EXPECT_THROW((void)read_text(input, {.timeout = 10ms}), Timeout);
  user.type("tial\nnext\n");
  EXPECT_EQ(read_text(input), "partial\n");
  EXPECT_EQ(read_text(input), "next\n");
  user.type("slop\x7fw\n");
  EXPECT_EQ(read_text(input), "slow\n");
  const std::string echo = "one\r\npartial\r\nnext\r\nslop\b \bw\r\n";
  EXPECT_EQ(seen_by(user, echo), echo);
}

MAIN_TYPED_TEST(Tty, OutputIsPrinted) {
  User<TypeParam> user;
  auto error = TtyStream::error();
  error.write("first\nsecond");
  EXPECT_EQ(seen_by(user, "first\r\nsecond"), "first\r\nsecond");
  EXPECT_EQ(error.write_some(std::as_bytes(std::span("!", 1))), 1u);
  EXPECT_EQ(seen_by(user, "!"), "!");
}

MAIN_TYPED_TEST(Tty, RawInputComesAsItIsTypedAndTheModeIsRestored) {
  User<TypeParam> user;
  {
    auto input = TtyStream::input();
    EXPECT_EQ(user.mode(), TerminalMode::Lines);
    input.set_mode(TerminalMode::Raw);
    EXPECT_EQ(user.mode(), TerminalMode::Raw);
    user.type("x");
    EXPECT_EQ(read_text(input), "x");
    user.type("\x04");
    EXPECT_EQ(read_text(input), "\x04");
    EXPECT_EQ(user.take_output(), "");
    input.set_mode(TerminalMode::Lines);
    EXPECT_EQ(user.mode(), TerminalMode::Lines);
    input.set_mode(TerminalMode::Raw);
  }
  EXPECT_EQ(user.mode(), TerminalMode::Lines);
}

MAIN_TYPED_TEST(Tty, TellsItsWindowSize) {
  User<TypeParam> user;
  auto input = TtyStream::input();
  user.resize({100, 30});
  EXPECT_EQ(input.window_size(), (WindowSize{100, 30}));
  user.resize({20, 10});
  EXPECT_EQ(input.window_size(), (WindowSize{20, 10}));
}

MAIN_TYPED_TEST(Tty, CtrlDEndsTheInputForGood) {
  FERMATA_CHECKS("IO-04");
  User<TypeParam> user;
  auto input = TtyStream::input();
  user.type("last\n\x04");
  EXPECT_EQ(read_text(input), "last\n");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(read_text(input), "");
  EXPECT_TRUE(input.handle().at_end());
}

MAIN_TYPED_TEST(Tty, AUserWhoHangsUpEndsTheInputAndFailsTheOutput) {
  User<TypeParam> user;
  auto input = TtyStream::input();
  auto error = TtyStream::error();
  auto reader = spawn("reader", [&] { return read_text(input); });
  suspend();
  user.hang_up();
  EXPECT_EQ(await(reader), "");
  EXPECT_EQ(error_of([&] { error.write("anybody there?"); }), "write: Input/output error");
}

TYPED_TEST(Tty, EachStreamGoesOneWay) {
  TypeParam::run([] {
    [[maybe_unused]] User<TypeParam> user;
    auto input = TtyStream::input();
    auto error = TtyStream::error();
    EXPECT_EQ(error_of([&] { input.write("x"); }), "write: this is for reading only");
    EXPECT_EQ(error_of([&] { (void)read_text(error); }), "read: this is for writing only");
  });
}

MAIN_TYPED_TEST(Tty, ClosingWakesTheReaderAndRefusesTheRest) {
  FERMATA_CHECKS("IO-06");
  User<TypeParam> user;
  auto input = TtyStream::input();
  auto reader = spawn("reader", [&] { return error_of([&] { (void)read_text(input); }); });
  suspend();
  input.close();
  EXPECT_EQ(await(reader), "Stream was closed");
  EXPECT_EQ(error_of([&] { input.set_mode(TerminalMode::Raw); }),
            "Cannot set the mode of closed IO handle");
  EXPECT_EQ(error_of([&] { (void)input.window_size(); }),
            "Cannot tell the window size of closed IO handle");
  auto again = TtyStream::input();
  user.type("still there\n");
  EXPECT_EQ(read_text(again), "still there\n");
}

MAIN_TYPED_TEST(Tty, WhatIsNoTerminalSaysSo) {
  PipeEnds ends = open_pipe();
  EXPECT_EQ(error_of([&] { ends.writer.handle().set_terminal_mode(TerminalMode::Raw); }),
            "set terminal mode: Inappropriate ioctl for device");
  EXPECT_EQ(error_of([&] { (void)ends.reader.handle().window_size(); }),
            "window size: Inappropriate ioctl for device");
}

// --- what else a process may be started with ---

TEST(StandardStreams, AreNeverClosed) {
  FERMATA_CHECKS("IO-11");
  User<UvArm> user;
  UvArm::run([] {});  // libuv keeps two descriptors for the process.
  const auto before = open_descriptors();
  UvArm::run([] {
    auto input = TtyStream::input();
    auto error = TtyStream::error();
    input.set_mode(TerminalMode::Raw);
    error.write("x");
  });
  EXPECT_EQ(open_descriptors(), before);
  for (int standard = 0; standard <= 2; ++standard) {
    EXPECT_NE(::fcntl(standard, F_GETFD), -1) << standard;
  }
  EXPECT_EQ(user.mode(), TerminalMode::Lines);
}

TEST(StandardStreams, MayBePipesWhichAreLeftAsTheyWere) {
  FERMATA_CHECKS("IO-11");
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  {
    const Redirected standard_input(0, ends[0]);
    const Redirected standard_output(1, ends[1]);
    UvArm::run([] {
      auto output = TtyStream::output();
      auto input = TtyStream::input();
      EXPECT_FALSE(input.is_terminal());
      output.write("through");
      EXPECT_EQ(read_text(input), "through");
      EXPECT_EQ(error_of([&] { input.set_mode(TerminalMode::Raw); }),
                "set terminal mode: Inappropriate ioctl for device");
    });
  }
  for (const int end : ends) {
    EXPECT_EQ(::fcntl(end, F_GETFL) & O_NONBLOCK, 0);
    EXPECT_EQ(::close(end), 0);
  }
}

TEST(StandardStreams, ThatAreFilesAreRefused) {
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ASSERT_GE(null, 0);
  {
    const Redirected standard_input(0, null);
    UvArm::run([] {});
    const auto before = open_descriptors();
    UvArm::run([&] {
      const auto inside = open_descriptors();
      EXPECT_EQ(error_of([] { (void)TtyStream::input(); }),
                "open standard input: it is a file: expected a terminal, a pipe or a socket");
      EXPECT_EQ(open_descriptors(), inside);
    });
    EXPECT_EQ(open_descriptors(), before);
  }
  ::close(null);
}

}  // namespace
}  // namespace fermata::conformance
