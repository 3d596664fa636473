// SPDX-License-Identifier: Apache-2.0

// A nemesis: what it does to machines, when, and what it leaves alone.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/assertions.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/io/file.hpp"
#include "fermata/sim/record/run_log.hpp"
#include "fermata/sim/run/runner.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/faults.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;
using test::error_of;
using test::only;

constexpr std::array<std::string_view, 3> kThree = {"one", "two", "three"};
constexpr std::array<std::string_view, 5> kFive = {"one", "two", "three", "four", "five"};

/// Only what a nemesis does.
FaultSet nemesis_alone() {
  FaultSet set = only(Fault::Crash);
  set.add(Fault::Partition);
  set.add(Fault::Pause);
  return set;
}

/// Writes and syncs a file, again and again.
void toil(int rounds = 20) {
  for (int i = 0; i < rounds; ++i) {
    File file = File::open("state", OpenMode::writing());
    file.write("x");
    file.sync();
    delay(1ms);
  }
}

/// What the decisions of a run of `body` do, in words.
std::vector<std::string> sentences_of(std::function<void(World& world)> body, std::uint64_t seed,
                                      FaultSet faults) {
  Program program;
  program.body = std::move(body);
  Runner runner(program, "random", {.faults = faults});
  runner.set_recording(true);
  EXPECT_FALSE(runner.run(seed).failure);
  std::vector<std::string> sentences;
  for (const auto& [key, sentence] : runner.decisions().names().all()) {
    sentences.push_back(sentence);
  }
  return sentences;
}

bool any_has(const std::vector<std::string>& sentences, std::string_view part) {
  return std::any_of(sentences.begin(), sentences.end(),
                     [&](const std::string& each) { return each.find(part) != std::string::npos; });
}

class NemesisTest : public test::WorldFixture {
 protected:
  /// Adds machines that are busy for a while.
  void add(std::span<const std::string_view> names) {
    for (const std::string_view name : names) world_->node(name, [] { toil(); });
  }
  [[nodiscard]] std::uint64_t count(Fault fault) const {
    return world_->fault_counts()[static_cast<std::size_t>(fault)];
  }
  /// How often each kind struck in 100 runs with `options`: crashes, partitions, pauses.
  std::array<std::uint64_t, 3> strikes(const NemesisOptions& options,
                                       FaultSet faults = nemesis_alone()) {
    std::array<std::uint64_t, 3> all{};
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
      begin(seed, faults);
      add(kThree);
      world_->nemesis(options);
      run();
      all[0] += count(Fault::Crash);
      all[1] += count(Fault::Partition);
      all[2] += count(Fault::Pause);
    }
    return all;
  }
};

TEST_F(NemesisTest, StrikesInEachOfItsWays) {
  const auto [crashes, partitions, pauses] = strikes({});
  EXPECT_GT(crashes, 50u);
  EXPECT_GT(partitions, 50u);
  EXPECT_GT(pauses, 20u);
}

TEST_F(NemesisTest, DoesOnlyWhatItIsToldTo) {
  const auto crashes = strikes({.partitions = 0, .pauses = 0});
  EXPECT_GT(crashes[0], 50u);
  EXPECT_EQ(crashes[1] + crashes[2], 0u);
  const auto partitions = strikes({.crashes = 0, .pauses = 0});
  EXPECT_GT(partitions[1], 50u);
  EXPECT_EQ(partitions[0] + partitions[2], 0u);
  const auto pauses = strikes({.crashes = 0, .partitions = 0, .pauses = 6});
  EXPECT_GT(pauses[2], 50u);
  EXPECT_EQ(pauses[0] + pauses[1], 0u);
}

TEST_F(NemesisTest, StrikesMoreOftenWhenToldTo) {
  const auto few = strikes({.crashes = 0.5, .partitions = 0, .pauses = 0});
  const auto many = strikes({.crashes = 8, .partitions = 0, .pauses = 0});
  EXPECT_GT(few[0], 0u);
  EXPECT_GT(many[0], 3 * few[0]);
}

TEST_F(NemesisTest, ObeysTheFaultsOfTheRun) {
  const auto struck = strikes({}, only(Fault::Pause));
  EXPECT_EQ(struck[0] + struck[1], 0u);
  EXPECT_GT(struck[2], 0u);
}

TEST_F(NemesisTest, LeavesOtherMachinesUp) {
  std::map<std::string, int> lives;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    begin(seed, nemesis_alone());
    for (const std::string_view name : kThree) {
      world_->node(name, [&lives, name] {
        ++lives[std::string(name)];
        for (int i = 0; i < 20; ++i) delay(1ms);
      });
    }
    world_->nemesis({.machines = {"two"}});
    run();
  }
  EXPECT_EQ(lives["one"], 100);
  EXPECT_GT(lives["two"], 150);
  EXPECT_EQ(lives["three"], 100);
}

TEST_F(NemesisTest, WithoutNamesStrikesAllMachinesButTheCallers) {
  std::map<std::string, int> lives;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    begin(seed, nemesis_alone());
    world_->node("two", [&] {
      ++lives["two"];
      for (int i = 0; i < 20; ++i) delay(1ms);
    });
    world_->node("one", [&] {
      ++lives["one"];
      world_->nemesis();
      for (int i = 0; i < 20; ++i) delay(1ms);
    });
    run();
  }
  EXPECT_EQ(lives["one"], 100);
  EXPECT_GT(lives["two"], 150);
}

TEST_F(NemesisTest, ACalmRunHasNoStrike) {
  begin(1, FaultSet::all(), "calm");
  add(kThree);
  world_->nemesis();
  run();
  EXPECT_EQ(count(Fault::Crash) + count(Fault::Partition) + count(Fault::Pause), 0u);
}

TEST_F(NemesisTest, APauseByTheTestOutlivesOneOfTheNemesis) {
  int tried = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    begin(seed, only(Fault::Pause));
    int turns = 0;
    Node& one = world_->node("one", [&] {
      for (; turns < 100; ++turns) delay(1ms);
    });
    world_->node("judge", [&] {
      world_->nemesis({.machines = {"one"}, .pauses = 12});
      for (int i = 0; i < 100 && count(Fault::Pause) == 0; ++i) delay(1ms);
      if (count(Fault::Pause) == 0 || !one.is_up()) return;
      ++tried;
      one.resume();
      one.pause();
      const int before = turns;
      delay(1h);
      EXPECT_EQ(turns, before) << seed;
      one.resume();
    });
    run();
  }
  EXPECT_GT(tried, 10);
}

// How long a machine is down is a part of the run's age, and nothing goes on meanwhile.
TEST_F(NemesisTest, TimesOfASingleMachineDoNotGrowWithoutEnd) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    begin(seed, nemesis_alone());
    world_->node("one", [] {
      for (int i = 0; i < 20; ++i) {
        FERMATA_REACHABLE("a turn of one begins");
        delay(1ms);
      }
    });
    world_->nemesis({.machines = {"one"}});
    run();
    EXPECT_LT(world_->now(), Instant{} + 60s) << seed;
  }
}

// The file is synced, and the program does not know yet: a crash at a wait never comes there.
TEST(Nemesis, StrikesRightAfterASync) {
  int between = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    bool in_sync = false;
    int interrupted = 0;
    int lives = 0;
    const auto body = [&](World& world) {
      world.node("store", [&] {
        ++lives;
        if (std::exchange(in_sync, false)) ++interrupted;
        for (int i = 0; i < 10; ++i) {
          File file = File::open("state", OpenMode::writing());
          file.write("x");
          in_sync = true;
          file.sync();
          in_sync = false;
        }
      });
      world.nemesis({.crashes = 1, .partitions = 0, .pauses = 0});
      world.run();
    };
    const auto sentences = sentences_of(body, seed, only(Fault::Crash));
    const bool is_synced = !any_has(sentences, "and before its sync");
    const bool is_said = any_has(sentences, ", just after the sync of 'state'");
    if (lives == 2 && interrupted == 1 && is_said && is_synced) ++between;
  }
  EXPECT_GT(between, 0);
}

TEST(Nemesis, StrikesAtMarksOfTheProgram) {
  int struck = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    int went_on = 0;
    int lives = 0;
    const auto body = [&](World& world) {
      world.node("leader", [&] {
        ++lives;
        delay(1ms);
        FERMATA_REACHABLE("a leader is elected");
        delay(Duration(1));
        ++went_on;
      });
      world.nemesis({.crashes = 1, .partitions = 0, .pauses = 0});
      world.run();
    };
    const auto sentences = sentences_of(body, seed, only(Fault::Crash));
    if (!any_has(sentences, ", just after \"a leader is elected\"")) continue;
    EXPECT_LT(went_on, lives);
    ++struck;
  }
  EXPECT_GT(struck, 0);
}

// --- targets ---

/// What strikes three machines that come to the same mark again and again.
struct Hunt {
  std::size_t strikes = 0;
  bool only_at_marks = true;
  bool always_recovers = true;  // Who was struck before, when another machine is struck.

  explicit Hunt(std::uint64_t seed) {
    Program program;
    program.body = [](World& world) {
      for (const std::string_view name : kThree) {
        world.service(name, [] {
          for (;;) {
            FERMATA_REACHABLE("a turn begins");
            delay(10ms);
          }
        });
      }
      world.nemesis({.pauses = 12});
      delay(300ms);
    };
    Runner runner(program, "random", {.faults = nemesis_alone()});
    runner.set_recording(true);
    EXPECT_FALSE(runner.run(seed).failure);
    for (const auto& [key, sentence] : runner.decisions().names().all()) {
      if (sentence.find(", just after \"a turn begins\"") != std::string::npos) {
        ++strikes;
      } else if (sentence.find(" at +") != std::string::npos) {
        only_at_marks = false;
      }
    }
    std::map<std::string, int> wrong;  // What is wrong with each machine.
    for (const RunLog::Disturbance& each : runner.run_log()->disturbances()) {
      const bool begins = each.kind == "crash" || each.kind == "pause";
      if (begins) ++wrong[each.machine];
      if (each.kind == "restart" || each.kind == "resume") wrong.erase(each.machine);
      if (begins && wrong.size() > 1) always_recovers = false;
    }
  }
};

TEST(Nemesis, ComesBackToAMarkInSomeRuns) {
  int hunts = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Hunt hunt(seed);
    if (hunt.strikes < 5 || !hunt.only_at_marks) continue;
    ++hunts;
    EXPECT_TRUE(hunt.always_recovers) << seed;
  }
  EXPECT_GT(hunts, 10);
  EXPECT_LT(hunts, 60);
}

// --- the quorum ---

/// What the run log says of machines and links at one time.
struct Health {
  std::set<std::string> away;  // Down.
  std::map<std::string, Instant> paused_until;
  std::map<std::pair<std::string, std::string>, Instant> cut_until;  // From and to.

  void see(const RunLog::Disturbance& what) {
    if (what.kind == "crash") {
      away.insert(what.machine);
      paused_until.erase(what.machine);  // It comes up as it was in the beginning.
    }
    if (what.kind == "restart") away.erase(what.machine);
    if (what.kind == "pause") paused_until[what.machine] = *what.until;
    if (what.kind == "resume") paused_until.erase(what.machine);
    if (what.kind == "partition") {
      Instant& until = cut_until[{what.machine, what.other}];
      until = std::max(until, *what.until);
    }
    if (what.kind == "heal") cut_until.erase({what.machine, what.other});
  }
  [[nodiscard]] bool reaches(std::string_view from, std::string_view to, Instant now) const {
    const auto cut = cut_until.find({std::string(from), std::string(to)});
    return cut == cut_until.end() || cut->second <= now;
  }
  [[nodiscard]] bool is_up(std::string_view name, Instant now) const {
    const auto paused = paused_until.find(std::string(name));
    const bool runs = paused == paused_until.end() || paused->second <= now;
    return runs && !away.contains(std::string(name));
  }
  /// How many of the five can work together.
  [[nodiscard]] int together(Instant now) const {
    int most = 0;
    for (unsigned set = 0; set < 1u << kFive.size(); ++set) {
      int size = 0;
      bool works = true;
      for (std::size_t a = 0; a < kFive.size() && works; ++a) {
        if ((set >> a & 1) == 0) continue;
        ++size;
        works = is_up(kFive[a], now);
        for (std::size_t b = 0; b < kFive.size() && works; ++b) {
          works = a == b || (set >> b & 1) == 0 || reaches(kFive[a], kFive[b], now);
        }
      }
      if (works) most = std::max(most, size);
    }
    return most;
  }
};

/// Runs five machines for a second of virtual time under a nemesis; the least number that could
/// work together.
int least_together(std::size_t quorum, std::uint64_t seed) {
  Program program;
  program.body = [quorum](World& world) {
    for (const std::string_view name : kFive) {
      world.service(name, [] {
        for (;;) {
          delay(2ms);
          FERMATA_REACHABLE("it goes on");
        }
      });
    }
    world.nemesis({.crashes = 20, .partitions = 20, .pauses = 20, .quorum = quorum});
    delay(1s);
  };
  Runner runner(program, "random", {.faults = nemesis_alone()});
  runner.set_recording(true);
  EXPECT_FALSE(runner.run(seed).failure);
  Health health;
  int least = kFive.size();
  for (const RunLog::Disturbance& each : runner.run_log()->disturbances()) {
    health.see(each);
    least = std::min(least, health.together(each.at));
  }
  return least;
}

TEST(Nemesis, LeavesAQuorumInEveryRun) {
  int least_of_all = kFive.size();
  int least_without = kFive.size();
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    least_of_all = std::min(least_of_all, least_together(3, seed));
    least_without = std::min(least_without, least_together(0, seed));
  }
  EXPECT_EQ(least_of_all, 3);
  EXPECT_LT(least_without, 2);
}

// --- repetition ---

Program three_under_nemesis() {
  Program program;
  program.body = [](World& world) {
    for (const std::string_view name : kThree) {
      world.node(name, [] { toil(); });
    }
    world.nemesis();
    world.run();
  };
  return program;
}

TEST(Nemesis, ASeedIsTheSameRunEveryTime) {
  const Program program = three_under_nemesis();
  std::set<std::uint64_t> hashes;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Runner one(program, "random", {.faults = nemesis_alone()});
    Runner two(program, "random", {.faults = nemesis_alone()});
    const RunResult first = one.run(seed);
    EXPECT_TRUE(first.same_run(two.run(seed)));
    EXPECT_FALSE(one.twin(seed, first));
    hashes.insert(first.trace_hash);
  }
  EXPECT_GT(hashes.size(), 10u);
}

TEST(Nemesis, ATapeReplaysItsStrikes) {
  const Program program = three_under_nemesis();
  Runner runner(program, "random", {.faults = nemesis_alone()});
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const RunResult before = runner.run(seed);
    const auto recorded = runner.decisions().log().recorded();
    for (const ReplayMode mode : {ReplayMode::Strict, ReplayMode::Best}) {
      Replay replay({recorded.begin(), recorded.end()}, before.draws, {}, mode);
      EXPECT_TRUE(before.same_run(runner.replay({.seed = seed}, replay)));
      EXPECT_FALSE(replay.divergence());
    }
  }
}

TEST(Nemesis, EachStrikeSaysWhatItDoes) {
  const Program program = three_under_nemesis();
  bool after_sync = false;
  bool cut_off = false;
  bool paused = false;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto sentences = sentences_of(program.body, seed, nemesis_alone());
    after_sync = after_sync || any_has(sentences, ", just after the sync of 'state'");
    cut_off = cut_off || any_has(sentences, " cut off from ");
    paused = paused || any_has(sentences, " gets no processor time at +");
  }
  EXPECT_TRUE(after_sync);
  EXPECT_TRUE(cut_off);
  EXPECT_TRUE(paused);
}

// --- the end ---

TEST_F(NemesisTest, TheWorldHealsAtUntil) {
  std::uint64_t struck = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    begin(seed, nemesis_alone());
    std::uint64_t at_end = 0;
    for (const std::string_view name : kThree) {
      world_->service(name, [] {
        for (;;) delay(1ms);
      });
    }
    world_->node("judge", [&] {
      world_->nemesis({.machines = {"one", "two", "three"}, .until = 50ms});
      delay(50ms);
      delay(1us);
      const auto strikes = [&] {
        return count(Fault::Crash) + count(Fault::Partition) + count(Fault::Pause);
      };
      at_end = strikes();
      for (const std::string_view name : kThree) EXPECT_TRUE(world_->node(name).is_up());
      delay(500ms);
      for (const std::string_view name : kThree) EXPECT_TRUE(world_->node(name).is_up());
      EXPECT_EQ(strikes(), at_end);
    });
    run();
    struck += at_end;
  }
  EXPECT_GT(struck, 100u);
}

TEST_F(NemesisTest, HealEndsIt) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    begin(seed, nemesis_alone());
    add(kThree);
    world_->nemesis();
    world_->heal();
    run();
    EXPECT_EQ(count(Fault::Crash) + count(Fault::Partition) + count(Fault::Pause), 0u);
  }
}

TEST_F(NemesisTest, BadInputIsNamed) {
  add(kThree);
  const auto refusal = [&](const NemesisOptions& options) {
    return error_of([&] { world_->nemesis(options); });
  };
  EXPECT_EQ(refusal({.machines = {"four"}}), "nemesis: there is no machine 'four'");
  EXPECT_EQ(refusal({.machines = {"one", "one"}}), "nemesis: machine 'one' is named twice");
  EXPECT_EQ(refusal({.crashes = -1}), "nemesis: crashes is -1, expected from 0 to 1000");
  EXPECT_EQ(refusal({.partitions = -0.5}), "nemesis: partitions is -0.5, expected from 0 to 1000");
  EXPECT_EQ(refusal({.pauses = std::numeric_limits<double>::infinity()}),
            "nemesis: pauses is inf, expected from 0 to 1000");
  EXPECT_EQ(refusal({.quorum = 4}), "nemesis: quorum is 4, expected at most 3, as many machines");
  EXPECT_EQ(refusal({.until = -5ns}), "nemesis: until is -5 ns, expected zero or more");
  world_->nemesis();
  EXPECT_EQ(refusal({}), "nemesis: this run has one already");
  run();
  begin(1);
  EXPECT_EQ(refusal({}), "nemesis: there is no machine, expected one to strike");
}

}  // namespace
}  // namespace fermata::sim
