// SPDX-License-Identifier: Apache-2.0

// The guide's tours in the simulator: each ends well under every schedule, and has printed what its
// page says it does, whatever the order.

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fermata/sim.hpp>
#include <string>
#include <vector>

#include "examples/guide/whole_tour.hpp"

namespace {

/// What is printed as long as this lives.
class PrintedText {
 public:
  PrintedText() { stdout = file_; }
  PrintedText(const PrintedText&) = delete;
  PrintedText& operator=(const PrintedText&) = delete;
  ~PrintedText() {
    stdout = before_;
    std::fclose(file_);
    std::free(text_);
  }

  /// What has been printed, after a line break.
  [[nodiscard]] std::string text() const {
    std::fflush(file_);
    return '\n' + std::string(text_, size_);
  }

 private:
  char* text_ = nullptr;
  std::size_t size_ = 0;
  std::FILE* file_ = ::open_memstream(&text_, &size_);
  std::FILE* before_ = stdout;
};

/// `tour` comes to its end; in a run without faults it has printed `lines`.
void expect_lines(const fermata::sim::World& world, void (*tour)(),
                  const std::vector<std::string>& lines) {
  const PrintedText printed;
  tour();
  const auto& faults = world.fault_counts();
  if (std::any_of(faults.begin(), faults.end(), [](auto count) { return count > 0; })) return;
  const std::string text = printed.text();
  for (const std::string& line : lines) {
    EXPECT_NE(text.find('\n' + line + '\n'), std::string::npos)
        << "no line '" << line << "' in" << text;
  }
}

}  // namespace

SIM_TEST(Guide, CoroutinesEndWell) {
  expect_lines(world, guide::coroutines::tour,
               {"the answer is 42", "parser failed: line 3: no colon", "job has ended",
                "10 primes below 30"});
}

SIM_TEST(Guide, ScopesEndWell) {
  expect_lines(
      world, guide::scopes::tour,
      {"3 sessions have ended", "no poller is left", "parser failed: line 3: no colon", "for ada"});
}

SIM_TEST(Guide, CancellationEndWell) {
  expect_lines(world, guide::cancellation::tour,
               {"gave up; slow goes on", "coroutine 'helper' was cancelled: Coroutine cancelled",
                "head, body", "east answers", "west: west is down", "far, after 1 error",
                "100 pages, the last is page 99"});
}

SIM_TEST(Guide, ChannelsEndWell) {
  expect_lines(world, guide::channels::tour,
               {"tie", "slur", "fermata", "got 7", "still mine: 1", "3 numbers", "the price is 42",
                "return 3", "closing time", "sent", "no room for second", "left: 1"});
}

SIM_TEST(Guide, PoolsEndWell) {
  expect_lines(world, guide::pools::tour,
               {"select: done", "not now", "a healthy one: yes", "0 connections left",
                "the circuit is ACTIVE", "last: done"});
}

SIM_TEST(Guide, TaskGroupsEndWell) {
  expect_lines(
      world, guide::task_groups::tour,
      {"the sum is 30", "from nearby", "job 0 failed: disk full", "got 1", "got 4", "got 9"});
}

SIM_TEST(Guide, LocksEndWell) {
  expect_lines(world, guide::locks::tour,
               {"balance 20", "2 lanes are free", "got 7", "made 1 time",
                "a round is over\na round is over"});
}

SIM_TEST(Guide, FuturesEndWell) {
  expect_lines(
      world, guide::futures::tour,
      {"it is 21 degrees", "the reply was looked at", "5 letters", "no meal: the kitchen is closed",
       "nobody wants the answer any more", "nobody is left to answer", "the sum is 42"});
}

SIM_TEST(Guide, TasksEndWell) {
  expect_lines(world, guide::tasks::tour,
               {"7 letters", "the sum is 6", "hello Ada", "it is 3", "it is still 3",
                "nothing came", "nothing yet", "given up after 3 attempts",
                "the poller stops: Coroutine cancelled", "the poller has ended"});
}

SIM_TEST(Guide, UdpEndWell) { expect_lines(world, guide::udp::tour, {"is anybody there?"}); }

SIM_TEST(Guide, FilesEndWell) {
  expect_lines(world, guide::files::tour, {"load everything, once"});
}

SIM_TEST(Guide, ThreadsEndWell) {
  expect_lines(world, guide::threads::tour,
               {"the sum is 6", "it was cancelled", "11 letters", "42, and 3 squares", "1 of 1"});
}

SIM_TEST(Guide, ThreadsBecomeCoroutines) {
  expect_lines(world, guide::from_threads::tour,
               {"the sum is 6", "1 of 2 served", "loaded 1 time"});
}

SIM_TEST(Guide, CallbacksOfLibuvBecomeCoroutines) {
  expect_lines(world, guide::from_libuv::tour, {"the answer is 42"});
}

SIM_TEST(Guide, CallbacksOfAsioBecomeCoroutines) {
  try {
    expect_lines(world, guide::from_asio::tour, {"andante", "no answer"});
  } catch (const fermata::InputOutputError&) {  // The network may break what it carries.
  } catch (const fermata::Timeout&) {           // Faults also let a connect hang.
  }
}

SIM_TEST(Guide, TerminalsHaveTheTestAsTheirUser) {
  fermata::sim::Terminal& terminal = world.node("main").terminal();
  terminal.type("Ada\n");
  auto input = fermata::TtyStream::input();
  EXPECT_EQ(guide::network::line_of(input), "Ada");
  EXPECT_EQ(terminal.take_output(), "Ada\r\n");  // The echo.
}

SIM_TEST(Guide, NetworkEndsWell) {
  try {
    expect_lines(world, guide::network::tour,
                 {"the client is slow", "4 bytes", "length: 5", "bytes", "length: 17"});
  } catch (const fermata::InputOutputError&) {  // The network may break what it carries.
  } catch (const fermata::Timeout&) {           // Faults also let a connect hang.
  }
}

SIM_TEST(Guide, ProcessesEndWell) {
  using fermata::sim::ScriptedProgram;
  world.program("echo hello", ScriptedProgram().says("hello\n"));
  world.program("printf 'one\\ntwo'", ScriptedProgram().says("one\ntwo"));
  world.program("echo straight through", ScriptedProgram().says("straight through\n"));
  world.program("sleep 60", ScriptedProgram().takes(std::chrono::minutes(1)));
  world.program("sleep", ScriptedProgram().takes(std::chrono::minutes(1)));
  world.program("tr", ScriptedProgram().copies_input());
  try {
    expect_lines(world, guide::processes::tour,
                 {"it says hello", "line: one", "line: two", "straight through",
                  "it was told to end", "loud"});
  } catch (const fermata::InputOutputError&) {  // There is no room for another process.
  }
}
