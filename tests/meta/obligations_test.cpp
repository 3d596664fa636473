// SPDX-License-Identifier: Apache-2.0

// What should happen in some run and never did: exit code 7, and its name. The program is
// examples/box_office, whose payments fail only where faults may strike.

#include <fermata/runtime.hpp>
#include <fermata/sim.hpp>

#include <string>

#include "fermata/sim/base/program_path.hpp"
#include "fermata/sim/run/reproduce.hpp"
#include "tests/meta/process.hpp"

namespace fermata::testing {
namespace {

SIM_TEST(Specimen, DISABLED_ComesByOnly) {
  FERMATA_SOMETIMES(random(2) == 2, "a coin stands on its edge");
}

Finished run_box_office(const std::string& settings, const std::string& arguments = "") {
  return run_shell(settings +
                   " " FERMATA_BINARY_DIR "/examples/box_office/example_box_office_sim_test " +
                   arguments);
}

TEST(ObligationsMet, AreAPass) {
  const Finished finished = run_box_office("");
  EXPECT_EQ(finished.exit_code, 0) << finished.output;
  EXPECT_TRUE(says(finished, "obligations: all 2 met in 1000 runs of 1 test\n"));
}

TEST(ObligationsMissed, AreNamedAndExitWithSeven) {
  const Finished finished = run_box_office("FERMATA_FAULTS=none");
  EXPECT_EQ(finished.exit_code, 7) << finished.output;
  EXPECT_TRUE(says(finished,
                   "missed: 1 of 2 obligations never held in 1000 runs of 1 test:\n"
                   "  sometimes 'a payment fails twice' (attempts >= 2) at "))
      << finished.output;
  EXPECT_TRUE(says(finished, ": never reached\n"));
}

TEST(ObligationsMissed, AreNobodysWhenSwitchedOff) {
  EXPECT_EQ(run_box_office("FERMATA_FAULTS=none FERMATA_OBLIGATIONS=off").exit_code, 0);
  const Finished unknown = run_box_office("FERMATA_OBLIGATIONS=on");
  EXPECT_EQ(unknown.exit_code, 1) << unknown.output;
  EXPECT_TRUE(says(unknown, "FERMATA_OBLIGATIONS: 'on' is unknown"));
}

TEST(ObligationsMissed, AreThoseOfATestThatComesByWhenAskedFor) {
  const std::string specimen = sim::detail::program_path() +
                               " --gtest_also_run_disabled_tests "
                               "--gtest_filter=Specimen.DISABLED_ComesByOnly";
  EXPECT_EQ(run_shell(specimen).exit_code, 0);
  const Finished missed = run_shell("FERMATA_OBLIGATIONS=test " + specimen);
  EXPECT_EQ(missed.exit_code, 7) << missed.output;
  EXPECT_TRUE(says(missed,
                   "missed: in 1000 runs these were reached and never held:\n"
                   "  sometimes 'a coin stands on its edge'"))
      << missed.output;
  EXPECT_EQ(run_shell("FERMATA_SEED=1 FERMATA_OBLIGATIONS=test " + specimen).exit_code, 0);
}

TEST(ObligationsMissed, AreNotJudgedOfAPart) {
  const Finished one_run = run_box_office("FERMATA_SEED=1");
  EXPECT_EQ(one_run.exit_code, 0) << one_run.output;
  EXPECT_TRUE(says(one_run, "obligations: 2, not judged: one seed alone was run\n"));
}

}  // namespace
}  // namespace fermata::testing
