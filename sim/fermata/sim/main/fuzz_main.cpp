// SPDX-License-Identifier: Apache-2.0

// The main() of a test program that can be fuzzed. With FERMATA_FUZZ=Suite.Name its arguments are
// those of the driver, and its inputs runs of that test; without it is sim_main().

#include <cstdio>
#include <string>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/fuzz/driver.hpp"
#include "fermata/sim/run/canary.hpp"
#include "fermata/sim/run/environment.hpp"
#include "fermata/sim/run/sim_main.hpp"

namespace {

bool driven = false;

void drive_once(fermata::sim::detail::FuzzSession& session) {
  FERMATA_ASSERT(!driven);
  driven = true;
  fermata::sim::detail::drive(session);
}

int fuzz(const std::string& test, int argc, char** argv) {
  FERMATA_ASSERT(!test.empty());
  FERMATA_ASSERT(argc > 0);
  fermata::sim::detail::take_arguments(argc, argv);
  if (test == fermata::sim::kCanaryTest) fermata::sim::add_canary();
  fermata::sim::detail::register_fuzz_driver(&drive_once);
  std::vector<std::string> own = {argv[0], "--gtest_filter=" + test,
                                  "--gtest_also_run_disabled_tests", "--gtest_brief=1"};
  std::vector<char*> pointers;
  for (std::string& text : own) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  const int code = fermata::sim_main(static_cast<int>(own.size()), pointers.data());
  if (driven || code != 0) return code;
  throw fermata::UsageError("FERMATA_FUZZ: '" + test + "' is not a simulated test of this program");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::string& test = fermata::sim::process_options().fuzz;
    return test.empty() ? fermata::sim_main(argc, argv) : fuzz(test, argc, argv);
  } catch (const fermata::Error& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
}
