// SPDX-License-Identifier: Apache-2.0

// Machines that a program adds to the world it runs in, and waits for.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/io/tcp.hpp"
#include "fermata/sim/strategy/make_strategy.hpp"
#include "fermata/sim/tape/decisions.hpp"
#include "fermata/sim/world/world.hpp"
#include "fermata/sync/task.hpp"
#include "fermata/sync/task_operation.hpp"
#include "tests/support/error_of.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;
using test::error_of;

class NodesTest : public ::testing::Test {
 protected:
  /// One run, whose first program is `main`; returns what ended it, empty when nothing did.
  std::string run(const std::function<void()>& main) {
    WorldOptions options;
    options.faults = FaultSet::none();
    options.full_audit = true;
    world_.reset(options);
    world_.node("main", main);
    world_.run();
    return world_.failure() ? world_.failure()->message : std::string();
  }

  std::unique_ptr<Strategy> strategy_ = make_strategy("random");
  Decisions decisions_{*strategy_};
  World world_{decisions_};
};

TEST_F(NodesTest, OneThatIsAddedInAProgramRunsBesideIt) {
  for (int again = 0; again < 3; ++again) {
    std::string got;
    EXPECT_EQ(run([&] {
                delay(5ms);
                world_.service("store", [] {
                  TcpListener listener = TcpListener::bind({"0.0.0.0", 7});
                  while (auto peer = listener.accept()) peer->write("kept");
                });
                world_.node("reader", [&] {
                  delay(1ms);
                  TcpStream store = TcpStream::connect("store", 7);
                  got.resize(4);
                  store.read_exact(std::as_writable_bytes(std::span(got)));
                });
                EXPECT_EQ(got, "");
                world_.run();
                EXPECT_EQ(got, "kept");
                EXPECT_GE(now(), Instant() + 6ms);
              }),
              "");
  }
}

TEST_F(NodesTest, AProgramMayReturnATask) {
  std::vector<std::string> ended;
  EXPECT_EQ(run([&] {
              const auto program = [&](const char* name) {
                return [&ended, name]() -> Task<> {
                  co_await after(1ms);
                  ended.push_back(name);
                };
              };
              world_.service("service", program("service"));
              world_.node("node", program("node"));
              world_.run();
              delay(1ms);
            }),
            "");
  EXPECT_EQ(ended, (std::vector<std::string>{"service", "node"}));
}

TEST_F(NodesTest, WhoWaitsForTheOthersWaitsForEachOfThem) {
  std::vector<std::string> ended;
  EXPECT_EQ(run([&] {
              for (const int i : {3, 1, 2}) {
                world_.node("n" + std::to_string(i), [&ended, i] {
                  delay(i * 1ms);
                  ended.push_back("n" + std::to_string(i));
                });
              }
              world_.run();
              EXPECT_EQ(ended, (std::vector<std::string>{"n1", "n2", "n3"}));
              world_.run();  // Nobody is left.
            }),
            "");
}

TEST_F(NodesTest, AFailureElsewhereEndsTheWait) {
  bool came_back = false;
  EXPECT_EQ(run([&] {
              world_.node("other", [] { throw Error("lost"); });
              world_.run();
              came_back = true;
            }),
            "fermata::Error: lost");
  EXPECT_FALSE(came_back);
}

TEST_F(NodesTest, AWorldInWhichTheOthersWaitForEverIsStalled) {
  const std::string message = run([&] {
    world_.node("other", [] {
      TcpListener listener = TcpListener::bind({"0.0.0.0", 7});
      (void)listener.accept();
    });
    world_.run();
  });
  EXPECT_EQ(message, "stalled: no pending events, 2 coroutines blocked");
}

TEST_F(NodesTest, OneNameIsForOneNodeAndOneWaitForOneCoroutine) {
  EXPECT_EQ(run([&] {
              EXPECT_EQ(error_of([&] { world_.node("main", [] {}); }),
                        "node 'main': there is one of that name already");
              world_.node("other", [] { delay(5ms); });
              const auto first = spawn("first", [&] { world_.run(); });
              delay(1ms);
              EXPECT_EQ(error_of([&] { world_.run(); }),
                        "run: another program waits for the other nodes already");
              world_.at(2ms, [&] {
                EXPECT_EQ(error_of([&] { world_.run(); }), "run: the world runs already");
              });
            }),
            "");
}

}  // namespace
}  // namespace fermata::sim
