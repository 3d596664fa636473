// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/sim_main.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/inspect/loaded_libraries.hpp"
#include "fermata/sim/run/environment.hpp"
#include "fermata/sim/run/obligations.hpp"
#include "fermata/sim/run/test_list.hpp"
#include "fermata/sim/run/worst_verdict.hpp"
#include "fermata/sim/tape/tape.hpp"

namespace fermata {
namespace {

constexpr int kPass = 0;
constexpr int kUsage = 1;

bool has_test(const std::string& name) {
  const ::testing::UnitTest& tests = *::testing::UnitTest::GetInstance();
  for (int i = 0; i < tests.total_test_suite_count(); ++i) {
    const ::testing::TestSuite& suite = *tests.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      if (std::string(suite.name()) + '.' + suite.GetTestInfo(j)->name() == name) return true;
    }
  }
  return false;
}

void select_test_of_tape(const std::string& path) {
  FERMATA_ASSERT(!path.empty());
  const sim::Tape tape = sim::load_tape(path);
  if (!has_test(tape.test)) {
    throw UsageError(path + " is a tape of " + tape.test + ", which this program does not have");
  }
  ::testing::GTEST_FLAG(filter) = tape.test;
}

int usage(const char* program, const char* message) {
  FERMATA_ASSERT(message != nullptr);
  std::fprintf(stderr, "%s: %s\n", program, message);
  return kUsage;
}

}  // namespace

int sim_main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (argc > 1) {
    return usage(argv[0], (std::string("unknown argument '") + argv[1] + "'").c_str());
  }
  try {
    sim::detail::list_tests_if_asked();
    const sim::Options& options = sim::process_options();
    sim::detail::check_loaded_libraries(options.imports);
    if (!options.replay.empty()) select_test_of_tape(options.replay);
  } catch (const Error& error) {
    return usage(argv[0], error.what());
  }
  if (RUN_ALL_TESTS() == 0) {
    const bool missed = sim::detail::judge_obligations(sim::process_options());
    return missed ? sim::exit_code(sim::Verdict::Missed) : kPass;
  }
  const auto worst = sim::detail::worst_verdict();
  return sim::exit_code(worst.value_or(sim::Verdict::Safety));
}

}  // namespace fermata
