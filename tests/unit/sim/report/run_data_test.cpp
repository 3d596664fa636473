// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/report/run_data.hpp"

#include <gtest/gtest.h>
#include <fermata/runtime.hpp>

#include <nlohmann/json.hpp>
#include <string>

#include "fermata/sim/report/failure_report.hpp"
#include "fermata/sim/report/html_page.hpp"
#include "fermata/sim/run/culprit_search.hpp"
#include "fermata/sim/run/explore.hpp"
#include "tests/support/watched_run.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;
using test::watched_run;

Json data_of(const RunReport& report) { return Json::parse(run_data(report)); }

TEST(RunData, HasTheRunAndHowToGetThereAgain) {
  const auto run = watched_run(test::greet);
  const Json data = data_of(run.report);
  EXPECT_EQ(data["format"], 1);
  EXPECT_EQ(data["test"], "Suite.Name");
  EXPECT_EQ(data["seed"], "0x1");
  EXPECT_EQ(data["reproduce"], "FERMATA_SEED=0x1 ./test");
  for (const char* absent : {"failure", "shrink", "verdict", "pair", "waits"}) {
    EXPECT_FALSE(data.contains(absent)) << absent;
  }
  ASSERT_EQ(data["runs"].size(), 1u);
  const Json& shown = data["runs"][0];
  EXPECT_EQ(shown["hash"].get<std::string>().size(), 16u);
  EXPECT_EQ(shown["end"], run.result.end.nanoseconds);
  EXPECT_EQ(shown["machines"], (Json{"main", "server"}));
}

TEST(RunData, RefersToWhatThereIs) {
  const Json data = data_of(watched_run(test::greet).report);
  const Json& run = data["runs"][0];
  for (const Json& lane : run["lanes"]) {
    EXPECT_LT(lane["machine"], run["machines"].size());
    if (lane.contains("parent")) {
      EXPECT_LT(lane["parent"], run["lanes"].size());
    }
  }
  std::uint64_t before = 0;
  for (const Json& step : run["steps"]) {
    EXPECT_LT(step["lane"], run["lanes"].size());
    EXPECT_GE(step["n"], before);
    before = step["n"];
    for (const Json& wake : step.value("wakes", Json::array())) {
      EXPECT_LT(wake[0], run["lanes"].size());
    }
  }
  ASSERT_GT(run["messages"].size(), 4u);
  for (const Json& message : run["messages"]) {
    if (message.contains("step")) {
      EXPECT_LT(message["step"], run["steps"].size());
    }
    if (message.contains("arrived")) {
      EXPECT_GE(message["arrived"], message["sent"]);
    }
  }
  EXPECT_EQ(run["messages"][0]["kind"], "connect");
  EXPECT_EQ(run["messages"][1]["preview"], "hello");
  EXPECT_EQ(run["messages"][1]["bytes"], 5);
  EXPECT_NE(run["messages"][1]["what"].get<std::string>().find("-> server:80"), std::string::npos);
}

TEST(RunData, HasWhatIsPrintedAndWhoPrintsIt) {
  const Json data = data_of(watched_run([](World& world) {
                              world.at(1ms, [] { FERMATA_LOG("of nobody"); });
                              FERMATA_LOG("of main");
                              delay(2ms);
                            }).report);
  const Json& lines = data["runs"][0]["lines"];
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0],
            (Json{{"at", 0}, {"step", 0}, {"lane", 0}, {"machine", 0}, {"text", "of main"}}));
  EXPECT_EQ(lines[1], (Json{{"at", 1'000'000}, {"step", 1}, {"text", "of nobody"}}));
}

TEST(RunData, HasEachChangeOfAFile) {
  const Json data = data_of(watched_run([](World&) {
                              File file = File::open("/settings", OpenMode::writing());
                              file.write("v1");
                              file.sync();
                              fs::sync_directory("/");
                            }).report);
  const Json& files = data["runs"][0]["files"];
  ASSERT_GE(files.size(), 2u);
  EXPECT_EQ(files[0]["path"], "settings");
  EXPECT_FALSE(files[0].contains("durable"));
  EXPECT_FALSE(files[0].contains("synced"));
  const Json& last = files[files.size() - 1];
  EXPECT_EQ(last["seen"], (Json{{"bytes", 2}, {"preview", "v1"}}));
  EXPECT_EQ(last["durable"], last["seen"]);
  EXPECT_EQ(last["synced"], true);
}

TEST(RunData, SaysWhoSpawnedWhom) {
  const Json data = data_of(watched_run([](World&) {
                              auto child = spawn("child", [] { spawn("grandchild", [] {}); });
                              await(child);
                            }).report);
  const Json& lanes = data["runs"][0]["lanes"];
  ASSERT_EQ(lanes.size(), 3u);
  EXPECT_FALSE(lanes[0].contains("parent"));
  EXPECT_EQ(lanes[1]["parent"], 0);
  EXPECT_EQ(lanes[2]["parent"], 1);
}

TEST(RunData, HasTheFaultsOfMachines) {
  const Json data = data_of(watched_run([](World& world) {
                              world.node("other", [] { delay(1s); });
                              world.link("main", "other").clog(2ms);
                              world.run();
                            }).report);
  const Json& faults = data["runs"][0]["faults"];
  ASSERT_EQ(faults.size(), 2u);
  EXPECT_EQ(faults[0]["kind"], "clog");
  EXPECT_EQ(faults[0]["machine"], 0);
  EXPECT_EQ(faults[0]["other"], 1);
  EXPECT_EQ(faults[0]["until"], 2'000'000);
}

TEST(RunData, ExplainsAFailure) {
  ExploreOptions options;
  options.name = "Suite.Name";
  options.strategy = "random";
  options.faults = "none";
  Program program;
  program.body = [](World&) {
    int value = 0;
    auto one = spawn("one", [&] { value = 1; });
    auto two = spawn("two", [&] { value = 2; });
    await(one);
    await(two);
    if (value == 1) throw Error("<one> was \xff last");
  };
  const auto found = explore(options, program).found;
  ASSERT_TRUE(found);
  ReportContext context;
  context.explanation = explain(*found, find_culprit(program, {}, found->tape));
  const auto report = run_report(*found, context);
  ASSERT_TRUE(report);
  const Json data = data_of(*report);
  EXPECT_EQ(data["failure"]["class"], "safety");
  EXPECT_NE(data["verdict"].get<std::string>().find("decides: "), std::string::npos);
  ASSERT_EQ(data["pair"].size(), 2u);
  EXPECT_EQ(data["pair"][0]["coroutine"], "two");
  ASSERT_EQ(data["runs"].size(), 2u);
  const Json& failing = data["runs"][0];
  const Json& turn = failing["turns"][failing["decisive"].get<std::size_t>()];
  EXPECT_TRUE(turn["pick"].get<bool>());
  EXPECT_EQ(failing["lanes"][turn["chosen"].get<std::size_t>()]["name"], "two");
  EXPECT_NE(data["runs"][1]["hash"], failing["hash"]);
}

TEST(RunData, HasTheWaitsOfADeadlock) {
  const auto run = watched_run([](World&) {
    Mutex mutex("door");
    mutex.lock();
    auto other = spawn("other", [&] { mutex.lock(); });
    await(other);
  });
  ASSERT_TRUE(run.result.failure);
  const Json data = data_of(run.report);
  EXPECT_EQ(data["failure"]["class"], "deadlock");
  EXPECT_FALSE(data["waits"]["coroutines"].empty());
}

TEST(HtmlPage, HoldsTheRunAndNothingEndsItsElement) {
  auto run = watched_run(test::greet);
  run.report.test = "</script><script>alert(1)</script>";
  const std::string page = html_page(run.report);
  constexpr std::string_view kPlace = R"(<script type="application/json" id="run-data">)";
  EXPECT_NE(empty_html_page().find(std::string(kPlace) + "</script>"), std::string_view::npos);
  const std::size_t begin = page.find(kPlace) + kPlace.size();
  const std::string data = page.substr(begin, page.find("</script>", begin) - begin);
  EXPECT_EQ(Json::parse(data), data_of(run.report));
  EXPECT_EQ(page.size() - data.size(), empty_html_page().size());
}

}  // namespace
}  // namespace fermata::sim
