// SPDX-License-Identifier: Apache-2.0

// What some run of a program has to come by is judged over all processes of the tool, and over all
// shards.

#include <fermata/runtime.hpp>
#include <fermata/sim.hpp>

#include <gtest/gtest.h>

#include <string>

#include "fermata/sim/base/program_path.hpp"
#include "tests/end_to_end/cli_specimens.hpp"

namespace fermata::testing {
namespace {

SIM_TEST(Probes, SeldomMet) {
  if (fermata::random(500) == 7) FERMATA_REACHABLE("one time in five hundred");
}

SIM_TEST(Probes, MetElsewhere) { FERMATA_SOMETIMES(fermata::random(2) == 1, "heads"); }

class Obligations : public Cli {
 protected:
  [[nodiscard]] Finished explore(const std::string& flags, const std::string& out = "out") const {
    return run_shell(tool() + " run " + sim::detail::program_path() + " --strategy random --out " +
                     folder_ + "/" + out + " " + flags);
  }
};

TEST_F(Obligations, AreJudgedOverAllProcesses) {
  const Finished met = explore("--runs 6000");
  EXPECT_EQ(met.exit_code, 0) << met.output;
  EXPECT_TRUE(says(met, "2, 0 of them missed"));
  const Finished missed = explore("--runs 2");
  EXPECT_EQ(missed.exit_code, 7) << missed.output;
  EXPECT_TRUE(says(missed, "missed: reachable 'one time in five hundred'"));
  EXPECT_EQ(explore("--runs 2 --obligations off").exit_code, 0);
}

TEST_F(Obligations, AreNotJudgedByThoseWhoHaveNotSeenAll) {
  const Finished some = explore("--runs 2 --filter Probes.SeldomMet");
  EXPECT_EQ(some.exit_code, 0) << some.output;
  EXPECT_TRUE(says(some, "2, not judged: some tests were left out"));
  EXPECT_EQ(explore("--seed 5").exit_code, 0);
}

TEST_F(Obligations, OfShardsAreJudgedWhenTheyAreMerged) {
  for (const char* shard : {"1", "2"}) {
    const Finished part = explore(std::string("--runs 2 --shard ") + shard + "/2", shard);
    EXPECT_EQ(part.exit_code, 0) << part.output;
  }
  const Finished merged = run_shell(tool() + " merge " + folder_ + "/1 " + folder_ + "/2");
  EXPECT_EQ(merged.exit_code, 7) << merged.output;
}

}  // namespace
}  // namespace fermata::testing
