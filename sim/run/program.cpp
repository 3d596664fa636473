// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/program.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "fermata/runtime/base/error.hpp"
#include "fermata/sim/run/environment.hpp"
#include "fermata/sim/run/verdicts.hpp"
#include "fermata/sim/tape/tape.hpp"

namespace fermata {
namespace {

constexpr int kPass = 0;
constexpr int kUsage = 1;

int usage(const char* program, const char* message) {
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
    const sim::Options& options = sim::process_options();
    if (!options.replay.empty()) static_cast<void>(sim::load_tape(options.replay));
  } catch (const Error& error) {
    return usage(argv[0], error.what());
  }
  if (RUN_ALL_TESTS() == 0) return kPass;
  const auto worst = sim::detail::worst_verdict();
  return sim::exit_code(worst.value_or(sim::Verdict::Safety));
}

}  // namespace fermata
