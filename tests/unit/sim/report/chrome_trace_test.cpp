// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/report/chrome_trace.hpp"

#include <gtest/gtest.h>
#include <fermata/runtime.hpp>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/watched_run.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;
using Thread = std::pair<int, int>;
using test::watched_run;

Thread thread_of(const Json& event) { return {event["pid"], event["tid"]}; }

std::vector<Json> events_of(const test::Body& body) {
  const Json trace = Json::parse(chrome_trace(watched_run(body).report));
  return trace["traceEvents"].get<std::vector<Json>>();
}

std::vector<Json> of_phase(const std::vector<Json>& events, const std::string& phase) {
  std::vector<Json> found;
  for (const Json& each : events) {
    if (each["ph"] == phase) found.push_back(each);
  }
  return found;
}

void disturbed(World& world) {
  world.node("server", test::serve);
  delay(1ms);
  TcpStream stream = TcpStream::connect(world.node("server").address(80));
  world.link("main", "server").clog(3ms);
  auto writer = spawn("writer", [&] { stream.write(test::bytes_of("hello")); });
  await(writer);
  std::array<std::byte, 64> buffer;
  stream.read(buffer);
  stream.close();
  world.run();
}

TEST(ChromeTrace, EverySliceIsOnANamedThread) {
  const auto events = events_of(disturbed);
  std::set<Thread> named;
  std::set<int> processes;
  for (const Json& each : of_phase(events, "M")) {
    if (each["name"] == "thread_name") named.insert(thread_of(each));
    if (each["name"] == "process_name") processes.insert(each["pid"].get<int>());
  }
  EXPECT_EQ(processes.size(), 2u);
  const auto slices = of_phase(events, "X");
  ASSERT_GT(slices.size(), 8u);
  for (const Json& each : slices) {
    EXPECT_TRUE(named.count(thread_of(each))) << each;
    EXPECT_TRUE(processes.count(each["pid"].get<int>())) << each;
  }
}

TEST(ChromeTrace, SlicesOfAThreadDoNotOverlap) {
  std::map<Thread, std::vector<std::pair<double, double>>> slices;
  for (const Json& each : of_phase(events_of(disturbed), "X")) {
    slices[thread_of(each)].emplace_back(each["ts"], each["dur"]);
  }
  for (auto& [thread, all] : slices) {
    std::sort(all.begin(), all.end());
    for (std::size_t i = 1; i < all.size(); ++i) {
      EXPECT_GE(all[i].first - all[i - 1].first, all[i - 1].second - 1e-6);
    }
  }
}

TEST(ChromeTrace, ArrowsArePairedAndLeadFromSliceToSlice) {
  const auto events = events_of(disturbed);
  std::set<std::pair<Thread, double>> slices;
  for (const Json& each : of_phase(events, "X")) slices.insert({thread_of(each), each["ts"]});
  std::map<int, Json> begins;
  std::set<std::string> kinds;
  for (const Json& each : of_phase(events, "s")) {
    EXPECT_TRUE(begins.emplace(each["id"].get<int>(), each).second);
    EXPECT_TRUE(slices.count({thread_of(each), each["ts"]})) << each;
    kinds.insert(each["name"].get<std::string>());
  }
  const auto ends = of_phase(events, "f");
  EXPECT_EQ(ends.size(), begins.size());
  for (const Json& each : ends) {
    ASSERT_TRUE(begins.count(each["id"].get<int>()));
    EXPECT_GT(each["ts"], begins[each["id"].get<int>()]["ts"]) << each;
    EXPECT_TRUE(slices.count({thread_of(each), each["ts"]})) << each;
  }
  EXPECT_EQ(kinds, (std::set<std::string>{"spawn", "wake", "message"}));
}

TEST(ChromeTrace, FaultsAreInstants) {
  const auto instants = of_phase(events_of(disturbed), "i");
  ASSERT_EQ(instants.size(), 2u);
  for (const Json& each : instants) EXPECT_EQ(each["cat"], "fault");
}

TEST(ChromeTrace, LinesOfTheLogAreInstants) {
  const auto events = events_of([](World& world) {
    world.at(1ms, [] { FERMATA_LOG("of nobody"); });
    FERMATA_LOG("of main");
    delay(2ms);
  });
  const auto instants = of_phase(events, "i");
  ASSERT_EQ(instants.size(), 2u);
  for (const Json& each : instants) EXPECT_EQ(each["cat"], "log");
  EXPECT_EQ(instants[0]["name"], "of main");
  EXPECT_EQ(thread_of(instants[0]), thread_of(of_phase(events, "X")[0]));
  EXPECT_EQ(instants[1]["name"], "of nobody");
}

TEST(ChromeTrace, StepsFollowEachOtherWhereTimeStandsStill) {
  const auto events = events_of([](World&) {
    for (int i = 0; i < 3; ++i) suspend();
  });
  double expected = 0;
  for (const Json& each : of_phase(events, "X")) {
    EXPECT_EQ(each["ts"], expected);
    EXPECT_EQ(each["args"]["at_ns"], 0);
    expected += 1;
  }
  EXPECT_EQ(expected, 4);
}

}  // namespace
}  // namespace fermata::sim
