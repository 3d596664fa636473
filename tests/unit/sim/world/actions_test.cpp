// SPDX-License-Identifier: Apache-2.0

// What a program plans with World::at() ends with that program.

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "fermata/core/spawn.hpp"
#include "fermata/io/thread.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;

class ActionsTest : public test::WorldFixture {
 protected:
  /// A service that takes a second to stop.
  void serve() {
    world_->service("slow to stop", [] {
      try {
        delay(24h);
      } catch (const Cancellation&) {
        protect([] { delay(1s); });
        throw;
      }
    });
  }

  [[nodiscard]] std::string log() const {
    std::string text;
    for (const std::string& line : world_->log()) text += line + '\n';
    return text;
  }

  int happened_ = 0;
};

TEST_F(ActionsTest, EndWithTheBodyThatPlannedThemWhileAServiceStops) {
  serve();
  world_->node("main", [&] {
    world_->at(10ms, [&] { ++happened_; });
    world_->at(500ms, [&] { ++happened_; });
    delay(20ms);
  });
  run();
  EXPECT_GE(world_->now(), Instant{} + 1s);
  EXPECT_EQ(happened_, 1);
  EXPECT_EQ(log(), "");
}

TEST_F(ActionsTest, EndWithTheBodyThoughItsCoroutinesRunOn) {
  world_->node("main", [&] {
    spawn("straggler", [&] {
      delay(5ms);
      world_->at(1ms, [&] { happened_ += 10; });
      world_->at(1s, [&] { happened_ += 100; });
      delay(10ms);
    });
    world_->at(1ms, [&] { ++happened_; });
  });
  serve();
  run();
  EXPECT_EQ(happened_, 10);  // That is the straggler's, which was there.
}

TEST_F(ActionsTest, EndWithABodyThatACrashEnds) {
  serve();
  Node& machine = world_->node("machine", [&] {
    world_->at(500ms, [&] { ++happened_; });
    delay(24h);
  });
  world_->at(10ms, [&] { machine.crash(); });
  run();
  EXPECT_GE(world_->now(), Instant{} + 1s);
  EXPECT_EQ(happened_, 0);
}

TEST_F(ActionsTest, EndWithABodyThatIsShutDown) {
  serve();
  world_->service("brief", [&] {
    world_->at(500ms, [&] { ++happened_; });
    delay(24h);
  });
  world_->node("main", [] { delay(20ms); });
  run();
  EXPECT_EQ(happened_, 0);
}

TEST_F(ActionsTest, EndWithWhoeverPlannedTheActionThatPlannedThem) {
  serve();
  world_->node("main", [&] {
    world_->at(10ms, [&] {
      world_->at(5ms, [&] { ++happened_; });
      world_->at(500ms, [&] { ++happened_; });
    });
    delay(20ms);
  });
  run();
  EXPECT_EQ(happened_, 1);
}

TEST_F(ActionsTest, OfAThreadEndWithTheThread) {
  world_->node("main", [&] {
    await(spawn_thread([this] {
      world_->at(1ms, [&] { ++happened_; });
      world_->at(500ms, [&] { ++happened_; });
      delay(10ms);
    }));
    delay(1s);
  });
  run();
  EXPECT_EQ(happened_, 1);
}

TEST_F(ActionsTest, ThatNoProgramPlannedHappenAsLongAsTheWorldRuns) {
  serve();
  world_->node("main", [] { delay(20ms); });
  world_->at(500ms, [&] {
    ++happened_;
    world_->at(100ms, [&] { ++happened_; });
  });
  run();
  EXPECT_EQ(happened_, 2);
}

TEST_F(ActionsTest, LetGoOfWhatTheyHoldWhenTheyHaveHappenedOrEnd) {
  const auto token = std::make_shared<int>(0);
  world_->node("main", [&] {
    world_->at(10ms, [token] {});
    world_->at(500ms, [token] {});
    const auto joined = spawn("joined", [] {});
    world_->at(500ms, [joined] { EXPECT_TRUE(joined->is_completed()); });  // Would be a leak.
    EXPECT_EQ(token.use_count(), 3);
    delay(20ms);
    EXPECT_EQ(token.use_count(), 2);
  });
  run();
  EXPECT_EQ(token.use_count(), 1);
}

TEST_F(ActionsTest, MayCrashTheMachineThatPlannedThem) {
  int lives = 0;
  Node* machine = nullptr;
  machine = &world_->node("machine", [&] {
    if (++lives == 2) return;
    const auto held = std::make_shared<int>(7);
    world_->at(10ms, [&, held] {
      machine->crash();
      EXPECT_EQ(*held, 7);
      machine->restart();
      world_->at(1ms, [&] { happened_ += 10; });  // Whoever planned it is no more.
      ++happened_;
    });
    delay(24h);
  });
  run();
  EXPECT_EQ(lives, 2);
  EXPECT_EQ(happened_, 1);
}

TEST_F(ActionsTest, LastWordsOfABodyStillTakeEffect) {
  int lives = 0;
  Node& other = world_->node("other", [&] {
    ++lives;
    delay(100ms);
  });
  world_->node("main", [&] {
    delay(10ms);
    other.crash();
    other.restart();
  });
  run();
  EXPECT_EQ(lives, 2);
}

TEST_F(ActionsTest, ThatEndWhileOthersStillRunAreLogged) {
  world_->node("main", [&] {
    world_->at(500ms, [&] { ++happened_; });
    world_->at(600ms, [&] { ++happened_; });
    delay(20ms);
  });
  world_->node("other", [] { delay(1s); });
  run();
  EXPECT_EQ(happened_, 0);
  EXPECT_EQ(log(), "+20.000 ms main/main: 2 actions of world.at() dropped: their program ends\n");
}

}  // namespace
}  // namespace fermata::sim
