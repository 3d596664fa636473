// SPDX-License-Identifier: Apache-2.0

// What a test process and the tool write for each other: events and the shared status.

#include "fermata/sim/run/event_writer.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "fermata/base/error.hpp"
#include "fermata/sim/base/json.hpp"
#include "fermata/sim/run/process/shared_status.hpp"

namespace fermata::sim {
namespace {

std::string contents_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(SharedStatus, IsSeenFromBothSides) {
  const std::string path = ::testing::TempDir() + "fermata_board";
  const SharedStatus tool = SharedStatus::create(path);
  const SharedStatus test = SharedStatus::open(path);
  test.name("Suite.Name");
  test.page().run.store(42);
  tool.page().stop.store(1);
  EXPECT_STREQ(tool.page().test, "Suite.Name");
  EXPECT_EQ(tool.page().run.load(), 42u);
  EXPECT_EQ(test.page().stop.load(), 1u);
  test.name(std::string(1'000, 'x'));
  EXPECT_EQ(std::string(tool.page().test).size(), 511u);
  std::filesystem::remove(path);
}

TEST(SharedStatus, IsThereWithoutATool) {
  const SharedStatus alone = SharedStatus::open("");
  alone.page().run.store(7);
  EXPECT_EQ(alone.page().stop.load(), 0u);
}

TEST(SharedStatus, OfAnotherKindIsRefused) {
  const std::string path = ::testing::TempDir() + "fermata_no_board";
  std::ofstream(path) << "short";
  EXPECT_THROW(static_cast<void>(SharedStatus::open(path)), Error);
  std::ofstream(path) << std::string(5'000, 'x');
  EXPECT_THROW(static_cast<void>(SharedStatus::open(path)), Error);
  EXPECT_THROW(static_cast<void>(SharedStatus::open("/nowhere/board")), InputOutputError);
  EXPECT_THROW(static_cast<void>(SharedStatus::create("/nowhere/board")), InputOutputError);
  std::filesystem::remove(path);
}

TEST(EventWriter, WritesLinesOfAFile) {
  const std::string path = ::testing::TempDir() + "fermata_events";
  std::filesystem::remove(path);
  const detail::EventWriter events(path);
  events.error("first");
  events.replayed("a.tape", "3 of 4 decisions matched", 3, 4);
  EXPECT_EQ(contents_of(path),
            "{\"event\":\"error\",\"message\":\"first\"}\n"
            "{\"event\":\"replayed\",\"tape\":\"a.tape\",\"summary\":\"3 of 4 decisions matched\","
            "\"matched\":3,\"decisions\":4}\n");
  std::filesystem::remove(path);
  EXPECT_THROW(detail::EventWriter("/nowhere/events").error("first"), InputOutputError);
  EXPECT_NO_THROW(detail::EventWriter("").error("first"));
}

/// A failure after two decisions, one of which reports leave out.
FoundFailure crashed() {
  FoundFailure found;
  found.failure.message = "something is wrong";
  found.tape.decisions = {{.key = 1, .value = 1}, {.key = 2, .value = 1}};
  found.tape.names = {{1, ""}, {2, "'store' crashes at +1 ms"}};
  return found;
}

TEST(EventWriter, CountsTheDecisionsThatReportsShow) {
  const std::string path = ::testing::TempDir() + "fermata_events";
  std::filesystem::remove(path);
  ReportContext context;
  context.shrunk = Shrunk{.found = crashed(), .decisions_before = 9};
  detail::EventWriter(path).failure(crashed(), context, "");
  const Json line = Json::parse(contents_of(path));
  EXPECT_EQ(line["shrunk_decisions"], 1);
  EXPECT_NE(line["shrunk"].get<std::string>().find("9 decisions -> 1"), std::string::npos) << line;
  std::filesystem::remove(path);
}

TEST(EventWriter, ListsTheFaultsOfARunThatFailed) {
  const std::string path = ::testing::TempDir() + "fermata_events_of_faults";
  std::filesystem::remove(path);
  FoundFailure found;
  found.faults = "reset, 1 in 100: struck 2 times\ncrash, 7 in 8: struck 1 time\n";
  detail::EventWriter(path).failure(found, {}, "");
  const std::string line = contents_of(path);
  EXPECT_NE(line.find("\"faults\":[\"reset, 1 in 100: struck 2 times\","
                      "\"crash, 7 in 8: struck 1 time\"]"),
            std::string::npos)
      << line;
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace fermata::sim
