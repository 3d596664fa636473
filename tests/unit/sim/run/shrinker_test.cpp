// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/shrinker.hpp"

#include <gtest/gtest.h>
#include <fermata/runtime.hpp>
#include <fermata/sim.hpp>
#include <fermata/sim/run/explore.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "examples/lost_update/lost_update.hpp"
#include "tests/support/deposits.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;
using test::program_of;
using test::race;

/// Bystanders that are picked in many orders, and a race between two others.
void race_among(World& world, int bystanders, int turns) {
  std::vector<Coroutine<>> crowd;
  for (int i = 0; i < bystanders; ++i) {
    crowd.push_back(spawn("bystander", [turns] {
      for (int j = 0; j < turns; ++j) suspend();
    }));
  }
  race(world);
  for (const Coroutine<>& each : crowd) await(each);
}
void crowded_race(World& world) { race_among(world, 6, 5); }
void very_crowded_race(World& world) { race_among(world, 40, 20); }

Tape failing(const Program& program, std::uint64_t seed = 1) {
  ExploreOptions options;
  options.name = "Suite.Name";
  options.seed = seed;
  options.strategy = "random";
  options.check_determinism = 0;
  const ExploreResult result = explore(options, program);
  EXPECT_TRUE(result.found);
  return result.found ? result.found->tape : Tape{};
}

/// Whether a run with these decisions, by key, has the failure of `tape`.
bool fails(const Program& program, const Tape& tape) {
  const auto found = replay_closely(program, WorldOptions{}, tape);
  return found && found->failure.signature() == tape.signature;
}

TEST(Shrinker, LeavesWhatTheFailureNeeds) {
  const Program program = program_of(crowded_race);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Tape tape = failing(program, seed);
    const auto shrunk = shrink(program, WorldOptions{}, tape);
    ASSERT_TRUE(shrunk);
    EXPECT_EQ(shrunk->found.tape.signature, tape.signature);
    EXPECT_LT(shrunk->found.tape.decisions.size(), 4u) << to_text(shrunk->found.tape);
    EXPECT_EQ(shrunk->decisions_before, count_shown(tape));
    EXPECT_LE(shrunk->runs, 500u);
  }
}

TEST(Shrinker, NoSingleDecisionCanBeDropped) {
  const Program program = program_of(crowded_race);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto shrunk = shrink(program, WorldOptions{}, failing(program, seed));
    ASSERT_TRUE(shrunk);
    EXPECT_TRUE(shrunk->minimal);
    const Tape& smallest = shrunk->found.tape;
    EXPECT_TRUE(fails(program, smallest));
    for (std::size_t i = 0; i < smallest.decisions.size(); ++i) {
      Tape smaller = smallest;
      smaller.decisions.erase(smaller.decisions.begin() + static_cast<std::ptrdiff_t>(i));
      EXPECT_FALSE(fails(program, smaller)) << to_text(smaller);
    }
  }
}

TEST(Shrinker, TheResultReplaysStrictly) {
  const Program program = program_of(crowded_race);
  const auto shrunk = shrink(program, WorldOptions{}, failing(program));
  ASSERT_TRUE(shrunk);
  const Tape& tape = shrunk->found.tape;
  Replay replay(tape.decisions, tape.draws, tape.names, ReplayMode::Strict);
  Runner runner(program, "calm", WorldOptions{});
  const RunResult result = runner.replay(Preparation{tape.seed, {}}, replay);
  EXPECT_FALSE(replay.divergence()) << replay.divergence()->text();
  EXPECT_EQ(result.trace_hash, tape.trace_hash);
  EXPECT_EQ(result.signature(), tape.signature);
}

TEST(Shrinker, DropsFaultsThatDoNotMatter) {
  const Program program = program_of([](World& world) {
    world.service("server", [] {
      auto listener = TcpListener::bind({"0.0.0.0", 7});
      while (auto peer = listener.accept()) {
        spawn("session", [peer = std::move(*peer)]() mutable {
          std::array<std::byte, 5> word;
          try {
            while (peer.read(word) > 0) peer.write(word);
          } catch (const InputOutputError&) {  // The link is bad.
          }
        });
      }
    });
    auto talk = spawn("talk", [] {
      try {
        auto stream = TcpStream::connect("server", 7);
        std::array<std::byte, 5> word;
        for (int i = 0; i < 5; ++i) {
          stream.write("hello");
          stream.read_exact(word);
        }
      } catch (const Error&) {  // As above.
      }
    });
    await(talk);
    race(world);
  });
  const auto shrunk = shrink(program, WorldOptions{}, failing(program));
  ASSERT_TRUE(shrunk);
  for (const Decision& decision : shrunk->found.tape.decisions) {
    EXPECT_TRUE(decision.is_pick) << describe(decision, shrunk->found.tape.names);
  }
}

/// Made small from a run in production's order in which only time has passed.
std::optional<Shrunk> shrunk_from_busy(std::function<void(World& world)> body) {
  const Program program = program_of(std::move(body));
  ExploreOptions options;
  options.strategy = "fifo";
  options.faults = "busy";
  const ExploreResult result = explore(options, program);
  EXPECT_TRUE(result.found);
  return result.found ? shrink(program, options.world, result.found->tape) : std::nullopt;
}

TEST(Shrinker, APickTakesThePlaceOfTimeThatPassed) {
  const auto shrunk = shrunk_from_busy([](World&) {
    bool ready = false;
    auto slow = spawn("slow", [&] {
      suspend();
      delay(2ms);
      ready = true;
    });
    delay(2ms);
    suspend();
    EXPECT_TRUE(ready);
    await(slow);
  });
  ASSERT_TRUE(shrunk);
  ASSERT_EQ(shrunk->found.tape.decisions.size(), 1u) << to_text(shrunk->found.tape);
  EXPECT_TRUE(shrunk->found.tape.decisions[0].is_pick);
}

TEST(Shrinker, ANumberOfTheProgramTakesThePlaceOfTimeThatPassed) {
  const auto shrunk = shrunk_from_busy([](World&) {
    const Instant begun = now();
    for (std::uint64_t i = 0, parts = fermata::random(4); i <= parts; ++i) delay(1ms);
    EXPECT_LT(now(), begun + 3ms);
  });
  ASSERT_TRUE(shrunk);
  ASSERT_EQ(shrunk->found.tape.decisions.size(), 1u) << to_text(shrunk->found.tape);
  EXPECT_EQ(shrunk->found.tape.decisions[0].stream, backend::RandomStream::Workload);
}

TEST(Shrinker, DropsTwoThatCanOnlyGoTogether) {
  const Program program = program_of([](World&) {
    const bool one = fermata::random(2) == 1;
    const bool other = fermata::random(2) == 1;
    const bool third = fermata::random(2) == 1;
    EXPECT_TRUE(one != other || !third);
  });
  const auto shrunk = shrink(program, WorldOptions{}, failing(program));
  ASSERT_TRUE(shrunk);
  EXPECT_EQ(shrunk->found.tape.decisions.size(), 1u) << to_text(shrunk->found.tape);
}

/// A machine that may crash is half way for the time of one write, after many others.
void be_half_way_once(World& world) {
  bool half_way = false;
  const auto keep = [&half_way] {
    EXPECT_FALSE(half_way);
    File log = File::open("log", OpenMode::updating());
    for (int i = 0; i < 12; ++i) {
      half_way = i == 8;
      log.write("record");
      half_way = false;
      log.sync();
    }
  };
  world.node("store", keep).may_crash();
  world.run();
}

TEST(Shrinker, DropsLatenciesThatOnlyMoveACrash) {
  const Program program = program_of(be_half_way_once);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    ExploreOptions options;
    options.seed = seed;
    options.strategy = "random";
    options.faults = "crash";
    options.check_determinism = 0;
    const ExploreResult result = explore(options, program);
    ASSERT_TRUE(result.found);
    const auto shrunk = shrink(program, options.world, result.found->tape);
    ASSERT_TRUE(shrunk);
    EXPECT_TRUE(shrunk->minimal);
    EXPECT_EQ(count_shown(shrunk->found.tape), 1u) << to_text(shrunk->found.tape);
  }
}

TEST(Shrinker, LowersNumbers) {
  const Program program =
      program_of([](World&) { EXPECT_LT(fermata::random(1'000), 300u) << "too much"; });
  const auto shrunk = shrink(program, WorldOptions{}, failing(program));
  ASSERT_TRUE(shrunk);
  ASSERT_EQ(shrunk->found.tape.decisions.size(), 1u);
  EXPECT_EQ(shrunk->found.tape.decisions[0].value, 300u);
}

TEST(Shrinker, StopsWhenItsRunsAreInVain) {
  const Program program = program_of(crowded_race);
  const auto shrunk = shrink(program, WorldOptions{}, failing(program), {.runs_in_vain = 3});
  ASSERT_TRUE(shrunk);
  EXPECT_FALSE(shrunk->minimal);
  EXPECT_NE(shrunk->summary().find("there was more to try (--shrink-runs)"), std::string::npos);
}

TEST(Shrinker, GoesOnWhileItGains) {
  const Program program = program_of(very_crowded_race);
  const Tape tape = failing(program);
  constexpr std::uint64_t kInVain = 60;
  const auto shrunk = shrink(program, WorldOptions{}, tape, {.runs_in_vain = kInVain});
  ASSERT_TRUE(shrunk);
  EXPECT_GT(shrunk->runs, kInVain);
  EXPECT_LT(10 * shrunk->found.tape.decisions.size(), tape.decisions.size());
}

TEST(Shrinker, NeverTakesMoreStepsThanItMay) {
  const Program program = program_of(crowded_race);
  const Tape tape = failing(program);
  const auto unlimited = shrink(program, WorldOptions{}, tape);
  ASSERT_TRUE(unlimited);
  for (std::uint64_t most = 100; most <= 1'000; most += 100) {
    const auto shrunk = shrink(program, WorldOptions{}, tape, {.steps = most});
    ASSERT_TRUE(shrunk);
    EXPECT_LT(shrunk->runs, unlimited->runs);
    EXPECT_FALSE(shrunk->minimal);
  }
}

TEST(Shrinker, SaysWhenTheFailureIsNotOnTheTape) {
  const Program program = program_of(race);
  Tape tape = failing(program);
  tape.decisions.clear();
  EXPECT_FALSE(shrink(program, WorldOptions{}, tape));
}

}  // namespace
}  // namespace fermata::sim
