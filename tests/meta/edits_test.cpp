// SPDX-License-Identifier: Apache-2.0

// A tape is worth keeping only if it outlives the next edit of the program: after each of twenty
// everyday edits at least nine of ten tapes still lead to their failure.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "fermata/sim/run/explore.hpp"
#include "fermata/sim/run/reanchor.hpp"
#include "fermata/sim/run/shrinker.hpp"
#include "tests/meta/edited_programs.hpp"

namespace fermata::testing {
namespace {

sim::Program version(const EditedProgram& program, Edit edit) {
  sim::Program result;
  result.body = [&program, edit](sim::World& world) { program.run(world, edit); };
  return result;
}

/// Tapes as they are kept: found from several seeds and shrunk.
std::vector<sim::Tape> tapes_of(const EditedProgram& program) {
  constexpr int kTapes = 10;
  const sim::Program original = version(program, Edit::None);
  std::vector<sim::Tape> tapes;
  for (std::uint64_t seed = 1; tapes.size() < kTapes && seed < 10 * kTapes; ++seed) {
    sim::ExploreOptions options;
    options.name = "Edited.Program";
    options.seed = seed;
    options.runs = 10'000;
    options.strategy = seed % 2 == 0 ? "random" : "pct:3";
    options.check_determinism = 0;
    const sim::ExploreResult explored = sim::explore(options, original);
    if (!explored.found) continue;
    const auto shrunk = sim::shrink(original, options.world, explored.found->tape);
    if (shrunk && !shrunk->found.tape.decisions.empty()) tapes.push_back(shrunk->found.tape);
  }
  return tapes;
}

TEST(Edits, TapesOutliveThem) {
  std::vector<int> alive(kEdits + 1, 0);
  int tapes = 0;
  for (const EditedProgram& program : kEditedPrograms) {
    const std::vector<sim::Tape> kept = tapes_of(program);
    EXPECT_EQ(kept.size(), 10u) << program.name;
    tapes += static_cast<int>(kept.size());
    for (int edit = 0; edit <= kEdits; ++edit) {
      const sim::Program edited = version(program, static_cast<Edit>(edit));
      int here = 0;
      for (const sim::Tape& tape : kept) {
        if (sim::reanchor(edited, sim::WorldOptions{}, tape)) ++here;
      }
      alive[static_cast<std::size_t>(edit)] += here;
      EXPECT_GE(here * 10, static_cast<int>(kept.size()) * 9)
          << program.name << ", edit " << edit << ": " << here << " of " << kept.size();
    }
  }
  EXPECT_EQ(alive[0], tapes);
}

TEST(Edits, ATapeOfAnUneditedProgramMatchesWhole) {
  const EditedProgram& program = kEditedPrograms[0];
  const sim::Tape tape = tapes_of(program).front();
  const auto again = sim::reanchor(version(program, Edit::None), sim::WorldOptions{}, tape);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->matched, count_shown(tape));
  EXPECT_EQ(again->runs, 1u);
  EXPECT_EQ(again->found.tape.trace_hash, tape.trace_hash);
}

TEST(Edits, NothingIsFoundWhereTheBugIsMended) {
  const EditedProgram& program = kEditedPrograms[0];
  sim::Program mended;
  mended.body = [](sim::World&) {
    int balance = 0;
    auto deposit = [&] {
      suspend();
      ++balance;
    };
    auto one = spawn("first", deposit);
    auto other = spawn("second", deposit);
    await(one);
    await(other);
    EXPECT_EQ(balance, 2);
  };
  for (const sim::Tape& tape : tapes_of(program)) {
    EXPECT_FALSE(sim::reanchor(mended, sim::WorldOptions{}, tape));
  }
}

}  // namespace
}  // namespace fermata::testing
