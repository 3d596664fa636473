// SPDX-License-Identifier: Apache-2.0

// Machines that are paused, whose clocks are wrong, that crash as a fault, and what programs call
// faults themselves.

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/fault_point.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/io/file.hpp"
#include "fermata/io/file_system.hpp"
#include "fermata/io/udp.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/faults.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;
using test::error_of;
using test::only;

class DisturbanceTest : public test::WorldFixture {
 protected:
  /// Runs 100 worlds that `prepare` fills; returns how often `fault` struck in all of them.
  std::uint64_t strikes(Fault fault, const std::function<void()>& prepare) {
    std::uint64_t struck = 0;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
      begin(seed, only(fault));
      prepare();
      run();
      struck += world_->fault_counts()[static_cast<std::size_t>(fault)];
    }
    return struck;
  }
};

TEST_F(DisturbanceTest, APausedMachineNoticesEverythingLate) {
  std::vector<Duration> woken;
  Node& sleeper = world_->node("sleeper", [&] {
    for (int i = 0; i < 3; ++i) {
      delay(10ms);
      woken.push_back(now() - Instant{});
    }
  });
  world_->at(15ms, [&] { sleeper.pause(); });
  world_->at(1s, [&] { sleeper.resume(); });
  run();
  EXPECT_EQ(woken, (std::vector<Duration>{10ms, 1s, 1s + 10ms}));
}

TEST_F(DisturbanceTest, WhatArrivesMeanwhileIsThereAfterwards) {
  std::vector<std::string> heard;
  Node& receiver = world_->node("receiver", [&] {
    UdpSocket socket = UdpSocket::bind({"0.0.0.0", 7});
    std::array<std::byte, 8> buffer;
    for (int i = 0; i < 2; ++i) {
      const auto got = socket.receive(buffer);
      heard.emplace_back(reinterpret_cast<const char*>(buffer.data()), got.size);
    }
    EXPECT_GE(now(), Instant{} + 1s);
  });
  world_->node("sender", [&] {
    delay(1ms);
    receiver.pause();
    UdpSocket socket = UdpSocket::bind({"0.0.0.0", 0});
    socket.send_to("one", receiver.address(7));
    socket.send_to("two", receiver.address(7));
    delay(1s);
    EXPECT_TRUE(heard.empty());
    receiver.resume();
  });
  run();
  EXPECT_EQ(heard, (std::vector<std::string>{"one", "two"}));
}

TEST_F(DisturbanceTest, AWorldInWhichOnlyPausedMachinesAreLeftIsStalled) {
  Node& sleeper = world_->node("sleeper", [] { delay(1h); });
  world_->node("other", [&] { sleeper.pause(); });
  world_->run();
  ASSERT_TRUE(world_->failure());
  EXPECT_EQ(world_->failure()->verdict, Verdict::Liveness);
  EXPECT_NE(world_->failure()->explanation.find("on 'sleeper', paused:"), std::string::npos)
      << world_->failure()->explanation;
}

TEST_F(DisturbanceTest, APausedServiceIsShutDownAllTheSame) {
  bool ended = false;
  Node& service = world_->service("service", [&] {
    struct AtEnd {
      bool& ended;
      ~AtEnd() { ended = true; }
    } const at_end{ended};
    delay(1h);
  });
  world_->node("main", [&] { service.pause(); });
  run();
  EXPECT_TRUE(ended);
}

TEST_F(DisturbanceTest, AClockGainsOrLosesAgainstTheWorldAndTimersKeepToIt) {
  for (const std::int32_t ppm : {100'000, -100'000, 1, -1, 0}) {
    begin(1);
    Node& node = world_->node("node", [&] {
      const Instant before = world_->now();
      const Instant shown = now();
      const WallTime wall = wall_clock();
      delay(1000s);
      EXPECT_GE(now() - shown, 1000s);
      EXPECT_LE(now() - shown, 1000s + 2ns);
      EXPECT_EQ(wall_clock().nanoseconds - wall.nanoseconds, (now() - shown).count());
      const double rate = 1.0 + ppm / 1e6;
      const double passed = std::chrono::duration<double>(world_->now() - before).count();
      EXPECT_NEAR(passed, 1000 / rate, 1e-6);
    });
    node.set_clock_drift(ppm);
    run();
  }
}

TEST_F(DisturbanceTest, AClockThatChangesItsRateGoesOnFromWhereItIs) {
  Node& node = world_->node("node", [] {
    const Instant begun = now();
    delay(100s);
    EXPECT_GE(now() - begun, 100s);
    EXPECT_LE(now() - begun, 100s + 2ns);
  });
  world_->at(10s, [&] { node.set_clock_drift(100'000); });
  world_->at(20s, [&] { node.set_clock_drift(0); });
  run();
  EXPECT_EQ(world_->now(), Instant{} + 99s);
}

TEST_F(DisturbanceTest, TheWallClockJumpsAndWaitingDoesNotNotice) {
  Node& node = world_->node("node", [&] {
    const WallTime before = wall_clock();
    world_->node("node").step_wall_clock(-1h);
    delay(1s);
    EXPECT_EQ(wall_clock().nanoseconds - before.nanoseconds, Duration(1s - 1h).count());
    EXPECT_EQ(now(), Instant{} + 1s);
  });
  static_cast<void>(node);
  run();
}

TEST_F(DisturbanceTest, ADiskMayBeLost) {
  for (const bool wiped : {false, true}) {
    begin(1);
    std::vector<std::size_t> entries;
    Node& store = world_->node("store", [&] {
      entries.push_back(fs::list_directory("/").size());
      if (entries.size() > 1) return;
      File::open("/kept", {.write = true, .create = true}).sync();
      fs::sync_directory("/");
      delay(1h);
    });
    world_->at(1s, [&] { store.crash(); });
    world_->at(2s, [&] {
      if (wiped) store.wipe_disk();
      store.restart();
    });
    run();
    ASSERT_EQ(entries.size(), 2u);
    EXPECT_EQ(entries[1] - entries[0], wiped ? 0u : 1u);
  }
}

TEST_F(DisturbanceTest, CrashesStrikeOnlyWhoMayCrashAndAlwaysEnd) {
  int lives = 0;
  const std::uint64_t struck = strikes(Fault::Crash, [&] {
    world_
        ->node("fragile",
               [&] {
                 ++lives;
                 delay(100ms);
               })
        .may_crash();
    world_->node("solid", [] { delay(100ms); });
  });
  EXPECT_GT(struck, 10u);
  EXPECT_GT(lives, 100);
  EXPECT_EQ(strikes(Fault::Crash, [&] { world_->node("solid", [] { delay(100ms); }); }), 0u);
}

TEST_F(DisturbanceTest, NobodyCrashesInAWorldThatHasHealed) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    begin(seed, only(Fault::Crash));
    int lives = 0;
    Node& fragile = world_->node("fragile", [&] {
      ++lives;
      delay(100ms);
    });
    fragile.may_crash();
    world_->heal();
    run();
    EXPECT_EQ(lives, 1);
  }
}

TEST_F(DisturbanceTest, PausesAndWrongClocksAreDrawnToo) {
  const auto naps = [] { delay(1ms); };
  EXPECT_GT(strikes(Fault::Pause, [&] { world_->node("node", naps).may_pause(); }), 0u);
  EXPECT_EQ(strikes(Fault::Pause, [&] { world_->node("node", naps); }), 0u);
  EXPECT_GT(strikes(Fault::Clock, [&] { world_->node("node", naps); }), 0u);
}

TEST_F(DisturbanceTest, AWallClockIsSetWhereThatIsAllowed) {
  std::int64_t most_ahead = 0;
  std::int64_t most_behind = 0;
  const auto look = [&] {
    const WallTime begun = wall_clock();
    for (int i = 0; i < 10; ++i) {
      delay(1ms);
      const std::int64_t ahead = wall_clock().nanoseconds - begun.nanoseconds - now().nanoseconds;
      most_ahead = std::max(most_ahead, ahead);
      most_behind = std::max(most_behind, -ahead);
    }
    EXPECT_EQ(now(), Instant{} + 10ms);
  };
  EXPECT_GT(strikes(Fault::ClockStep, [&] { world_->node("node", look).may_step_clock(); }), 0u);
  EXPECT_GT(most_ahead, Duration(1s).count());
  EXPECT_GT(most_behind, Duration(1s).count());
  EXPECT_EQ(strikes(Fault::ClockStep, [&] { world_->node("node", look); }), 0u);
}

TEST_F(DisturbanceTest, AProgramNamesItsOwnFaults) {
  int torn = 0;
  int lost = 0;
  const std::uint64_t struck = strikes(Fault::Point, [&] {
    world_->node("node", [&] {
      for (int i = 0; i < 10; ++i) {
        if (FERMATA_FAULT("journal.torn")) ++torn;
        if (FERMATA_FAULT("journal.lost")) ++lost;
      }
    });
  });
  EXPECT_GT(torn, 0);
  EXPECT_GT(lost, 0);
  EXPECT_EQ(struck, static_cast<std::uint64_t>(torn + lost));
  EXPECT_EQ(strikes(Fault::Delay,
                    [&] { world_->node("node", [] { EXPECT_FALSE(FERMATA_FAULT("torn")); }); }),
            0u);
  EXPECT_FALSE(FERMATA_FAULT("outside of everything"));
}

TEST_F(DisturbanceTest, ARunTellsItsFaults) {
  std::string told;
  strikes(Fault::Point, [&] {
    told += world_->faults();
    world_->node("node", [&] { static_cast<void>(FERMATA_FAULT("torn")); });
  });
  EXPECT_EQ(told, "");
  for (std::uint64_t seed = 1; told.empty(); ++seed) {
    begin(seed, only(Fault::Point));
    world_->node("node", [&] {
      while (!FERMATA_FAULT("torn") && now() < Instant{} + 1s) delay(1ms);
    });
    run();
    told = world_->faults();
  }
  EXPECT_EQ(told.substr(0, 8), "torn, 1 ");
  EXPECT_NE(told.find(": struck 1 time\n"), std::string::npos) << told;
}

TEST_F(DisturbanceTest, BadInputIsNamed) {
  Node& node = world_->node("node", [] {});
  EXPECT_EQ(error_of([&] { node.wipe_disk(); }), "wipe disk: node 'node' is not down");
  EXPECT_EQ(error_of([&] { node.set_clock_drift(100'001); }),
            "clock drift 100001: expected from -100000 to 100000 millionths");
  run();
  EXPECT_EQ(error_of([&] { node.pause(); }), "pause: node 'node' is not up");
}

TEST_F(DisturbanceTest, ACrashDoesTheSameInAWorldThatHasRunBefore) {
  const auto play = [&] {
    Node& machine = world_->node("machine", [] {
      for (int i = 0; i < 20; ++i) delay(1ms);
    });
    machine.may_pause();
    world_->at(3ms, [&] { machine.crash(); });
    world_->at(5ms, [&] { machine.restart(); });
    run();
    return std::pair(world_->trace_hash(), decisions_->log().draws());
  };
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    begin(seed, only(Fault::Pause));
    const auto first = play();
    decisions_->begin(seed);
    world_->reset();
    EXPECT_EQ(play(), first) << "seed " << seed;
  }
}

}  // namespace
}  // namespace fermata::sim
