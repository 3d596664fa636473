// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/record/disk_log.hpp"

#include <gtest/gtest.h>
#include <fermata/runtime.hpp>

#include <string>
#include <vector>

#include "fermata/sim/record/run_log.hpp"
#include "fermata/sim/run/runner.hpp"
#include "tests/support/bytes.hpp"

namespace fermata::sim {
namespace {

using test::bytes_of;

FileState file(const std::string& path, const std::string& seen) {
  FileState state;
  state.path = path;
  const auto bytes = bytes_of(seen);
  state.seen.emplace(bytes);
  return state;
}

std::vector<std::string> paths_in(const DiskLog& log, std::size_t steps) {
  std::vector<std::string> paths;
  for (const DiskLog::Change* each :
       log.files([&](const DiskLog::Change& change) { return change.step <= steps; })) {
    paths.push_back(each->machine + ':' + each->file.path);
  }
  return paths;
}

TEST(DiskLog, KeepsOnlyWhatHasChanged) {
  DiskLog log;
  log.saw("one", {file("a", "1"), file("b", "1")}, Instant{1}, 1);
  log.saw("one", {file("a", "1"), file("b", "2")}, Instant{2}, 2);
  log.saw("two", {file("a", "1")}, Instant{2}, 2);
  ASSERT_EQ(log.changes().size(), 4u);
  EXPECT_EQ(log.changes()[2].file.path, "b");
  EXPECT_EQ(log.changes()[3].machine, "two");
}

TEST(DiskLog, KnowsTheFilesOfEachMoment) {
  DiskLog log;
  log.saw("one", {file("a", "1")}, Instant{1}, 1);
  log.saw("one", {file("b", "1")}, Instant{2}, 2);
  log.saw("one", {}, Instant{3}, 3);
  EXPECT_EQ(paths_in(log, 0), std::vector<std::string>{});
  EXPECT_EQ(paths_in(log, 1), std::vector<std::string>{"one:a"});
  EXPECT_EQ(paths_in(log, 2), std::vector<std::string>{"one:b"});
  EXPECT_EQ(paths_in(log, 3), std::vector<std::string>{});
}

TEST(DiskLog, KeepsTheFirstBytesOfAFile) {
  const FileContents contents(bytes_of(std::string(FileContents::kMostBytes + 1, 'x')));
  EXPECT_EQ(contents.size, FileContents::kMostBytes + 1);
  EXPECT_EQ(contents.bytes.size(), FileContents::kMostBytes);
}

TEST(DiskLog, HasNoEffectOnTheRun) {
  Program program;
  program.body = [](World& world) {
    Node& desk = world.node("desk", [] {
      File file = File::open("/settings", OpenMode::writing());
      file.write("v1");
      file.sync();
      file.write("v2");
    });
    desk.may_crash();
    world.run();
  };
  Runner runner(program, "random", WorldOptions{});
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u}) {
    const RunResult before = runner.run(seed);
    runner.set_recording(true);
    EXPECT_TRUE(runner.run(seed).same_run(before)) << seed;
    EXPECT_FALSE(runner.run_log()->disk_log().changes().empty()) << seed;
    runner.set_recording(false);
  }
}

}  // namespace
}  // namespace fermata::sim
