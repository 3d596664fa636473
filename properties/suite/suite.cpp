// SPDX-License-Identifier: Apache-2.0

// The bundled suite: explores every law and some small programs, with each strategy, and says what
// that came to. Before it explores all of them it tries what is wrong on purpose and must be told;
// of each turn it replays a run from its tape. Without --runs it takes a fixed number of steps, and
// spends them where schedules are still new. With --trace-hashes it prints what a fixed list of
// runs came to, for comparison between compilers.

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "fermata/base/error.hpp"
#include "fermata/sim/base/seed.hpp"
#include "fermata/sim/machine/fault.hpp"
#include "fermata/sim/run/explore.hpp"
#include "properties/suite/entries.hpp"
#include "properties/suite/exploration.hpp"
#include "properties/suite/shares.hpp"

namespace fermata::properties::suite {
namespace {

constexpr std::uint64_t kHashedSeeds = 20;

int list() {
  for (const Entry& entry : entries()) fmt::print("{}\n", entry.name);
  return 0;
}

int print_trace_hashes() {
  for (const Entry& entry : entries()) {
    for (std::uint64_t seed = 1; seed <= kHashedSeeds; ++seed) {
      sim::ExploreOptions options;
      options.name = entry.name;
      options.seed = seed;
      options.runs = 1;
      options.check_determinism = 0;
      const sim::ExploreResult result = sim::explore(options, entry.program);
      fmt::print("{} {} {:016x}\n", entry.name, seed, result.trace_hash);
    }
  }
  return 0;
}

}  // namespace
}  // namespace fermata::properties::suite

int main(int argc, char** argv) {
  using fermata::properties::suite::Choice;
  Choice choice;
  bool hashes = false;
  try {
    for (int i = 1; i < argc; ++i) {
      const std::string_view option = argv[i];
      if (option == "--trace-hashes") {
        hashes = true;
        continue;
      }
      if (option == "--list") return fermata::properties::suite::list();
      if (i + 1 == argc) throw fermata::UsageError("expected a value after " + std::string(option));
      const std::string value = argv[++i];
      if (option == "--runs") {
        choice.runs = fermata::sim::parse_seed(value);
        if (choice.runs == 0) throw fermata::UsageError("--runs 0: expected at least 1");
      } else if (option == "--seed") {
        choice.seed = fermata::sim::parse_seed(value);
      } else if (option == "--only") {
        choice.only = value;
      } else if (option == "--strategy") {
        choice.strategy = value;
      } else if (option == "--faults") {
        static_cast<void>(fermata::sim::FaultSet::parse(value));
        choice.faults = value;
      } else {
        throw fermata::UsageError(
            std::string(option) + " is not an option; expected --runs N, " +
            "--seed S, --only ENTRY,..., --strategy NAME, --faults LIST, --list, --trace-hashes");
      }
    }
    return hashes ? fermata::properties::suite::print_trace_hashes()
                  : fermata::properties::suite::explore_in_shares(choice);
  } catch (const fermata::Error& error) {
    fmt::print(stderr, "fermata_suite: {}\n", error.what());
    return 1;
  }
}
