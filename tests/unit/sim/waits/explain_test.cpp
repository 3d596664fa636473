// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/waits/explain.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fermata/core/scope.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/io/tcp.hpp"
#include "fermata/sync/channel.hpp"
#include "fermata/sync/mutex.hpp"
#include "fermata/sync/once.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;

class ExplainTest : public test::OneWorldFixture {
 protected:
  ExplainTest() : OneWorldFixture("fifo") {}
};

TEST_F(ExplainTest, TellsOfARuntimeThatRuns) {
  Json graph;
  run([&] {
    Mutex mutex("ledger");
    const Channel<int> values("values", 2);
    mutex.lock();
    const auto clerk = spawn("clerk", [&] { const Mutex::Guard guard(mutex); });
    const auto reader = spawn("reader", [&] { static_cast<void>(values.recv({.timeout = 1s})); });
    delay(1ms);
    graph = Json::parse(wait_graph_json(current_runtime()));
    values.send(1);
    mutex.unlock();
    wait(*clerk);
    wait(*reader);
  });
  EXPECT_EQ(graph["class"], "none");
  ASSERT_EQ(graph["coroutines"].size(), 3u);
  EXPECT_EQ(graph["coroutines"][0]["state"], "running");
  const Json& clerk = graph["coroutines"][1];
  EXPECT_EQ(clerk["name"], "clerk");
  EXPECT_EQ(clerk["state"], "waiting");
  const Json& ledger = graph["objects"][clerk["waits"][0]["object"].get<std::size_t>()];
  EXPECT_EQ(ledger["title"], "mutex 'ledger'");
  EXPECT_EQ(ledger["hands"][0]["how"], "held by");
  EXPECT_EQ(ledger["hands"][0]["coroutine"], graph["coroutines"][0]["name"]);
  EXPECT_EQ(ledger["hands"][0]["certainty"], "known");
  const Json& reader = graph["coroutines"][2];
  EXPECT_TRUE(reader["sleeps"].get<bool>());
  EXPECT_EQ(reader["waits"][0]["wants"], "receive");
  EXPECT_TRUE(reader["waits"][1]["only_ends"].get<bool>());
}

TEST_F(ExplainTest, TellsWhatWouldBeLeftIfTheRunEndedNow) {
  std::string text;
  run([&] {
    const auto sleeper = spawn("sleeper", [] { delay(1s); });
    suspend();
    text = detail::explain_leaks(current_runtime());
    wait(*sleeper);
  });
  EXPECT_TRUE(text.starts_with("CORE-EV-10: 4 events outlive the run, first: Coroutine 1 'main' "))
      << text;
  EXPECT_NE(text.find("\n  Coroutine 2 'sleeper' spawned at "), std::string::npos) << text;
  EXPECT_NE(text.find("\nCORE-EV-10: 1 events are active after the run\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("\nCORE-SC-14: 2 contexts outlive the run\n"), std::string::npos) << text;
}

TEST_F(ExplainTest, SaysWhoDoesWhatIsDoneOnce) {
  Json graph;
  run([&] {
    Once schema("schema");
    const auto first = spawn("first", [&] { schema.call([] { delay(2ms); }); });
    const auto second = spawn("second", [&] { schema.call([] {}); });
    delay(1ms);
    graph = Json::parse(wait_graph_json(current_runtime()));
    wait(*first);
    wait(*second);
  });
  ASSERT_EQ(graph["coroutines"].size(), 3u);
  const Json& second = graph["coroutines"][2];
  EXPECT_EQ(second["name"], "second");
  const Json& schema = graph["objects"][second["waits"][0]["object"].get<std::size_t>()];
  EXPECT_EQ(schema["name"], "schema");
  EXPECT_EQ(schema["hands"][0]["coroutine"], graph["coroutines"][1]["name"]);
  EXPECT_EQ(schema["hands"][0]["certainty"], "known");
}

TEST_F(ExplainTest, OneEndOfAConnectionIsOneObject) {
  Json graph;
  run([&] {
    auto listener = TcpListener::bind({"127.0.0.1", 80});
    auto client = TcpStream::connect({"127.0.0.1", 80});
    const auto server = listener.accept();
    const auto reader = spawn("reader", [&] {
      std::byte answer[1];
      static_cast<void>(client.read(answer));
    });
    const auto writer = spawn("writer", [&] { client.write(std::vector<std::byte>(10'000'000)); });
    delay(1s);
    graph = Json::parse(wait_graph_json(current_runtime()));
    reader->cancel();
    writer->cancel();
  });
  ASSERT_EQ(graph["coroutines"].size(), 3u);
  const Json& reader = graph["coroutines"][1]["waits"][0];
  const Json& writer = graph["coroutines"][2]["waits"][0];
  EXPECT_EQ(reader["object"], writer["object"]);
  EXPECT_EQ(reader["wants"], "read");
  EXPECT_EQ(writer["wants"], "write");
}

TEST_F(ExplainTest, SaysInWhoseHandsAScopeIs) {
  std::string text;
  run([&] {
    Scope scope = Scope::detached("workers");
    scope.spawn("one", [] { delay(1s); });
    scope.spawn("two", [] { delay(1s); });
    const auto waiter = spawn("waiter", [&] { scope.await_completion(); });
    delay(1ms);
    text = wait_graph_text(current_runtime());
    wait(*waiter);
  });
  EXPECT_NE(text.find("'waiter' (coroutine "), std::string::npos) << text;
  EXPECT_NE(text.find("    up to 'one', 'two'\n"), std::string::npos) << text;
}

// The scope itself has no member: what its end needs is the end of its child scope.
TEST_F(ExplainTest, FindsARingThroughAChildScope) {
  std::string text;
  run([&] {
    Scope scope = Scope::detached("workers");
    Scope crew = Scope::inherit("crew", *scope);
    const Scope idle = Scope::inherit("idle", *scope);
    Coroutine<> waiter;
    crew.spawn("one", [&] { wait(*waiter); });
    waiter = spawn("waiter", [&] { scope.await_completion(); });
    delay(1ms);
    text = wait_graph_text(current_runtime());
    scope.cancel();
    wait(*waiter);
  });
  EXPECT_EQ(text.find("cycle: 'one' --join--> 'waiter' --scope 'workers': scope 'crew': join--> "
                      "'one'\n"),
            0u)
      << text;
  EXPECT_NE(text.find("    up to scope 'crew'\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace fermata::sim
