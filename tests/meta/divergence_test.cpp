// SPDX-License-Identifier: Apache-2.0

// A tape and a program that do not fit.

#include <gtest/gtest.h>

#include <fermata/sim.hpp>

#include <string>

#include "fermata/core/spawn.hpp"
#include "fermata/sim/base/program_path.hpp"
#include "fermata/sim/tape/tape.hpp"
#include "fermata/sync/await.hpp"
#include "tests/meta/process.hpp"

namespace fermata::sim {
namespace {

SIM_TEST(Specimen, DISABLED_Race) {
  int last = 0;
  const auto first = spawn("first", [&] { last = 1; });
  const auto second = spawn("second", [&] { last = 2; });
  await(first);
  await(second);
  EXPECT_EQ(last, 2) << "as planned";
}

testing::Finished run_race(const std::string& settings) {
  const std::string out = "FERMATA_OUT=" + ::testing::TempDir() + "fermata_meta_divergence ";
  return testing::run_shell(out + settings + detail::program_path() +
                            " --gtest_also_run_disabled_tests "
                            "--gtest_filter=Specimen.DISABLED_Race");
}

TEST(Divergence, IsToldAtTheFirstDrawThatIsNoneOfTheTape) {
  const std::string path = testing::line_with(run_race("").output, "tape: ");
  Tape tape = load_tape(path);
  ASSERT_FALSE(tape.decisions.empty());
  tape.decisions.front().occurrence += 1;
  save_tape(tape, path);
  const testing::Finished told = run_race("FERMATA_REPLAY=" + path + " ");
  EXPECT_EQ(told.exit_code, exit_code(Verdict::Divergence)) << told.output;
  EXPECT_TRUE(testing::says(told, "divergence: expected draw "));
  EXPECT_TRUE(testing::says(told, ", step 1"));
}

}  // namespace
}  // namespace fermata::sim
