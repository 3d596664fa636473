// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/report/step_text.hpp"

#include <gtest/gtest.h>
#include <fermata/io/udp.hpp>
#include <fermata/runtime.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <string>
#include <vector>

#include "tests/support/watched_run.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;
using test::bytes_of;
using test::watched_run;
using Clauses = std::vector<std::string>;

/// All that the coroutines of a machine did, in the order of the run; without places.
Clauses deeds(const RunLog& run_log, const std::string& machine) {
  const StepText text(run_log);
  Clauses all;
  for (std::size_t i = 0; i < run_log.steps().size(); ++i) {
    if (run_log.lanes()[run_log.steps()[i].lane].machine != machine) continue;
    for (std::string clause : text.clauses(i)) {
      const std::size_t place = clause.rfind(' ');
      if (clause.find(".cpp:") != std::string::npos || clause.find(".hpp:") != std::string::npos) {
        clause.resize(place);
      }
      all.push_back(std::move(clause));
    }
  }
  return all;
}

bool has(const Clauses& clauses, const std::string& wanted) {
  return std::find(clauses.begin(), clauses.end(), wanted) != clauses.end();
}

TEST(StepText, SaysWhatWasSentAndWhatWasReceived) {
  const auto run = watched_run(test::greet);
  const Clauses client = deeds(*run.run_log, "main");
  EXPECT_TRUE(has(client, "connects to 'server'")) << ::testing::PrintToString(client);
  EXPECT_TRUE(has(client, "sends \"hello\" to 'server'")) << ::testing::PrintToString(client);
  EXPECT_TRUE(has(client, "receives \"welcome\" from 'server'"))
      << ::testing::PrintToString(client);
  const Clauses server = deeds(*run.run_log, "server");
  EXPECT_TRUE(has(server, "is asked for a connection by 'main'"))
      << ::testing::PrintToString(server);
  EXPECT_TRUE(has(server, "receives \"hello\" from 'main'")) << ::testing::PrintToString(server);
  EXPECT_TRUE(has(server, "sees the end of the stream from 'main'"))
      << ::testing::PrintToString(server);
}

TEST(StepText, TellsOfMessagesAndNotOfWaits) {
  const auto run = watched_run(test::greet);
  const StepText text(*run.run_log);
  Clauses telling;
  for (std::size_t i = 0; i < run.run_log->steps().size(); ++i) {
    for (std::string& clause : text.telling_clauses(i)) telling.push_back(std::move(clause));
  }
  EXPECT_TRUE(has(telling, "receives \"hello\" from 'main'")) << ::testing::PrintToString(telling);
  for (const std::string& clause : telling) {
    EXPECT_FALSE(clause.starts_with("waits") || clause.starts_with("connects")) << clause;
  }
}

TEST(StepText, SaysThatAConnectionIsRefused) {
  const Clauses client = deeds(*watched_run(test::be_refused).run_log, "main");
  EXPECT_TRUE(has(client, "connects to 'server' (refused)")) << ::testing::PrintToString(client);
  EXPECT_TRUE(has(client, "is refused by 'server'")) << ::testing::PrintToString(client);
}

TEST(StepText, SaysWhatBecameOfDatagrams) {
  const auto run = watched_run(test::scatter);
  const Clauses client = deeds(*run.run_log, "main");
  EXPECT_TRUE(has(client, "sends \"odd\" to 'server'")) << ::testing::PrintToString(client);
  EXPECT_TRUE(has(client, "sends \"nobody\" to 'server' (lost)"))
      << ::testing::PrintToString(client);
  EXPECT_TRUE(has(deeds(*run.run_log, "server"), "receives \"odd\" from 'main'"));
}

TEST(StepText, SaysWhatIsDoneToFiles) {
  const auto run = watched_run([](World&) {
    File file = File::open("settings.new", OpenMode::writing());
    file.write(bytes_of("v2"));
    file.sync();
    file.close();
    fs::link("settings.new", "settings.old");
    fs::rename("settings.new", "settings");
    fs::sync_directory(".");
  });
  const Clauses clauses = deeds(*run.run_log, "main");
  for (const char* wanted : {"opens 'settings.new'", "writes \"v2\" to 'settings.new'",
                             "syncs 'settings.new'", "links 'settings.new' to 'settings.old'",
                             "renames 'settings.new' to 'settings'", "syncs directory '.'"}) {
    EXPECT_TRUE(has(clauses, wanted)) << wanted << " in " << ::testing::PrintToString(clauses);
  }
}

TEST(StepText, SaysWhoHasWhichResourceOfAPool) {
  const auto run = watched_run([](World&) {
    Pool<int> seats("seats", {.factory = [] { return 7; }});
    Lease<int> first = seats.acquire();
    Lease<int> second = seats.acquire();
    suspend();
    second.release();
    second = *seats.try_acquire();
    suspend();
    first.discard();
    suspend();
  });
  const Clauses clauses = deeds(*run.run_log, "main");
  const Clauses wanted = {"takes #1 of pool 'seats'",
                          "takes #2 of pool 'seats'",
                          "gives #2 back to pool 'seats'",
                          "takes #2 of pool 'seats'",
                          "discards #1 of pool 'seats'",
                          "gives #2 back to pool 'seats'",
                          "ends"};
  EXPECT_EQ(clauses, wanted);
}

TEST(StepText, KeepsTheOrderOfWhatAStepAsksAndSends) {
  const auto run = watched_run([](World&) {
    const Address nowhere("10.0.0.77", 53);
    UdpSocket socket = UdpSocket::bind({"0.0.0.0", 1234});
    Pool<int> seats("seats", {.factory = [] { return 7; }});
    suspend();
    socket.send_to(bytes_of("before"), nowhere);
    Lease<int> seat = seats.acquire();
    socket.send_to(bytes_of("between"), nowhere);
    seat.release();
    socket.send_to(bytes_of("after"), nowhere);
    suspend();
  });
  const Clauses clauses = deeds(*run.run_log, "main");
  std::vector<std::string> order;
  for (const std::string& clause : clauses) {
    for (const char* word : {"before", "takes", "between", "gives", "after"}) {
      if (clause.find(word) != std::string::npos) order.emplace_back(word);
    }
  }
  EXPECT_EQ(order, Clauses({"before", "takes", "between", "gives", "after"}))
      << ::testing::PrintToString(clauses);
}

TEST(StepText, SaysWhatIsLookedUp) {
  const auto run = watched_run([](World& world) {
    world.set_addresses("store.example",
                        std::array{Address("10.9.8.7", 0), Address("10.9.8.6", 0)});
    static_cast<void>(resolve("store.example"));
    EXPECT_THROW(static_cast<void>(resolve("nobody.example")), DnsError);
  });
  const Clauses clauses = deeds(*run.run_log, "main");
  EXPECT_TRUE(has(clauses, "looks up 'store.example': 10.9.8.7, 10.9.8.6"))
      << ::testing::PrintToString(clauses);
  EXPECT_TRUE(has(clauses, "looks up 'nobody.example' (Name or service not known)"))
      << ::testing::PrintToString(clauses);
}

TEST(StepText, SaysWhatIsDoneToProcesses) {
  const auto run = watched_run([](World& world) {
    world.program("sleep", ScriptedProgram().takes(100s));
    Process sleeper = Process::spawn({.program = "sleep"});
    sleeper.kill(SIGTERM);
    static_cast<void>(sleeper.wait());
  });
  const Clauses clauses = deeds(*run.run_log, "main");
  const Clauses wanted = {"starts process 1000 'sleep'", "sends signal SIGTERM to process 1000"};
  for (const std::string& each : wanted) {
    EXPECT_TRUE(has(clauses, each)) << each << " in " << ::testing::PrintToString(clauses);
  }
}

TEST(RunLogDisturbances, NameASignalThatHasNoNameByItsNumber) {
  const auto run = watched_run([](World& world) {
    Node server = world.node("server", [] {
      SignalWatch watch(40);
      watch.wait();
    });
    delay(1ms);
    server.signal(40);
    world.run();
  });
  EXPECT_FALSE(run.result.failure.has_value());
  const auto& all = run.run_log->disturbances();
  EXPECT_TRUE(std::any_of(all.begin(), all.end(), [](const RunLog::Disturbance& each) {
    return each.text.find("gets signal 40") != std::string::npos;
  }));
}

TEST(StepText, NamesAllWhomAStepSpawnsInOneClause) {
  const auto run = watched_run([](World&) {
    auto one = spawn("one", [] {});
    auto two = spawn("two", [] {});
    await(one);
    await(two);
  });
  EXPECT_TRUE(has(deeds(*run.run_log, "main"), "spawns 'one', 'two'"));
}

TEST(WaitText, IsShort) {
  EXPECT_EQ(wait_text("Request #7 (read) or Timer #8 (timeout=300ms, in 4ms)"), "read or 300 ms");
  EXPECT_EQ(wait_text("Mutex 'door' created at a.cpp:1, not held"), "Mutex 'door'");
  EXPECT_EQ(wait_text("Mutex 'door' created at a.cpp:1, held by 'x' since a.cpp:7, 2 waiting"),
            "Mutex 'door', held by 'x'");
  EXPECT_EQ(wait_text("Coroutine 2 'first' spawned at a.cpp:1"), "'first'");
  EXPECT_EQ(wait_text("Coroutine 2 spawned at a.cpp:1"), "Coroutine 2");
  EXPECT_EQ(wait_text("when_any: 1 of 2 items have not ended; Coroutine 8 'second' spawned at "
                      "a.cpp:1, waiting"),
            "when_any: 1 of 2 items have not ended; 'second'");
}

}  // namespace
}  // namespace fermata::sim
