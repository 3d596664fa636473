// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/process/watched_exploration.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "fermata/base/error.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;

std::string line(std::string_view name, std::uint64_t run) {
  return "program --only " + std::string(name) + " --runs " + std::to_string(run + 1);
}

/// An exploration whose run 2 does something else.
template <class Deed>
WatchedExploration doing(Deed deed) {
  return [deed](const SharedStatus& status) {
    status.name("law");
    for (std::uint64_t run = 0; run < 5; ++run) {
      status.page().run.store(run);
      if (run == 2) deed();
    }
    return 3;
  };
}

struct Watched {
  int code = 0;
  std::string text;
};

Watched watch(const WatchedExploration& explore, WatchLimits limits = {}) {
  ::testing::internal::CaptureStderr();
  Watched watched;
  watched.code = explore_watched(explore, &line, limits);
  watched.text = ::testing::internal::GetCapturedStderr();
  return watched;
}

TEST(ExploreWatched, ReturnsWhatTheExplorationReturns) {
  const Watched watched = watch(doing([] {}));
  EXPECT_EQ(watched.code, 3);
  EXPECT_EQ(watched.text, "");
}

TEST(ExploreWatched, NamesTheRunThatKillsItsProcess) {
  const Watched watched = watch(doing([] { ::raise(SIGKILL); }));
  EXPECT_EQ(watched.code, 9);
  EXPECT_EQ(watched.text,
            "\nlaw: run 3: crash: the process was killed by signal 9 (Killed)\n"
            "reproduce: program --only law --runs 3\n");
}

TEST(ExploreWatched, AnExitInARunIsACrash) {
  const Watched watched = watch(doing([] { ::_exit(0); }));
  EXPECT_EQ(watched.code, 9);
  EXPECT_NE(watched.text.find("run 3: crash: the process exited with code 0"), std::string::npos)
      << watched.text;
}

TEST(ExploreWatched, KillsTheRunThatDoesNotEnd) {
  const auto hang = [] {
    for (;;) ::pause();
  };
  const Watched watched = watch(doing(hang), {.least = 200ms, .times = 0});
  EXPECT_EQ(watched.code, 124);
  EXPECT_EQ(watched.text,
            "\nlaw: run 3: hang: took longer than 200 ms\n"
            "reproduce: program --only law --runs 3\n");
}

TEST(ExploreWatched, AnErrorIsToldAndNoCrash) {
  const Watched watched = watch(doing([] { throw UsageError("there is no 'x'"); }));
  EXPECT_EQ(watched.code, 1);
  EXPECT_EQ(watched.text, "there is no 'x'\n");
}

}  // namespace
}  // namespace fermata::sim
