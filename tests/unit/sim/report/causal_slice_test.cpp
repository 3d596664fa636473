// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/report/causal_slice.hpp"

#include <gtest/gtest.h>
#include <fermata/runtime.hpp>

#include <chrono>
#include <string>
#include <vector>

#include "tests/support/watched_run.hpp"

namespace fermata::sim {
namespace {

using test::watched_run;

std::string name_of(const RunLog& run_log, std::size_t step) {
  return run_log.lanes()[run_log.steps()[step].lane].name;
}

std::size_t last_step(const RunLog& run_log) { return run_log.steps().size() - 1; }

std::size_t first_step_of(const RunLog& run_log, const std::string& name) {
  for (std::size_t i = 0; i < run_log.steps().size(); ++i) {
    if (name_of(run_log, i) == name) return i;
  }
  throw Error("no step of " + name);
}

TEST(CausalSlice, LeadsFromWhoeverWokeToTheOneWhoWaited) {
  const auto run = watched_run([](World&) {
    Promise<int> promise;
    auto future = promise.future();
    auto stranger = spawn("stranger", [] { delay(std::chrono::hours(1)); });
    auto completes = spawn("completes", [&] { promise.complete(1); });
    EXPECT_EQ(await(future), 1);
  });
  const RunLog& run_log = *run.run_log;
  std::size_t effect = 0;
  for (std::size_t i = 0; i < run_log.steps().size(); ++i) {
    if (name_of(run_log, i) == "main") effect = i;
  }
  const CausalSlice slice(run_log, {effect});
  EXPECT_EQ(slice.distance(effect), 0u);
  EXPECT_EQ(slice.distance(first_step_of(run_log, "completes")), 1u);
  EXPECT_FALSE(slice.distance(first_step_of(run_log, "stranger")));
  const std::vector<std::size_t> path = slice.path_from(first_step_of(run_log, "completes"));
  EXPECT_EQ(path, (std::vector{first_step_of(run_log, "completes"), effect}));
  EXPECT_TRUE(slice.path_from(first_step_of(run_log, "stranger")).empty());
}

TEST(CausalSlice, FollowsMessagesFromMachineToMachine) {
  const auto run = watched_run([](World& world) {
    world.node("server", test::serve);
    TcpStream stream = TcpStream::connect(world.node("server").address(80));
    stream.write(test::bytes_of("hello"));
    std::array<std::byte, 64> buffer;
    EXPECT_EQ(stream.read(buffer), 7u);
    throw Error("as planned");
  });
  const RunLog& run_log = *run.run_log;
  std::size_t reads = last_step(run_log);
  while (run_log.steps()[reads].ending != RunLog::Ending::Fails) --reads;
  ASSERT_EQ(run_log.steps()[reads].received.size(), 1u);
  const CausalSlice slice(run_log, {reads});
  std::size_t answers = 0;
  for (const Message& message : run_log.message_log().messages()) {
    if (message.from == "server" && message.size == 7) answers = *message.step;
  }
  ASSERT_EQ(run_log.lanes()[run_log.steps()[answers].lane].machine, "server");
  EXPECT_EQ(slice.distance(answers), 1u);
}

TEST(CausalSlice, GoesThroughARestartToWhatTheMachineDidBefore) {
  using namespace std::chrono_literals;
  const auto run = watched_run([](World& world) {
    Node& server = world.node("server", [] { delay(5ms); });
    delay(1ms);
    server.crash();
    server.restart();
    world.run();
  });
  const RunLog& run_log = *run.run_log;
  std::vector<std::size_t> of_server;
  for (std::size_t i = 0; i < run_log.steps().size(); ++i) {
    if (run_log.lanes()[run_log.steps()[i].lane].machine == "server") of_server.push_back(i);
  }
  ASSERT_GE(of_server.size(), 2u);
  EXPECT_TRUE(CausalSlice(run_log, {of_server.back()}).distance(of_server.front()));
}

}  // namespace
}  // namespace fermata::sim
