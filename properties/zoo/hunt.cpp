// SPDX-License-Identifier: Apache-2.0

// Looks for one bug with one strategy: zoo_hunt WHAT STRATEGY BASE-SEED LIMIT, where WHAT is an
// entry of the zoo or the name of a law. Prints one line of JSON at once, so that it is there even
// when the bug then brings the process down:
//   {"runs": 17, "found": true, "about": true, "replays": true, "seed": "0x2a", "message": "..."}
// `zoo_hunt list` prints the entries and the laws, each with its depth.

#include <fmt/format.h>

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "fermata/sim/base/json.hpp"
#include "fermata/sim/base/seed.hpp"
#include "fermata/sim/run/explore.hpp"
#include "properties/laws/law.hpp"
#include "properties/zoo/workload.hpp"

namespace fermata::properties::zoo {
namespace {

/// The first line of `text`.
std::string json_text(std::string_view text) {
  return sim::json_text(text.substr(0, text.find('\n')));
}

const Workload* find_workload(std::string_view name) {
  for (const Workload& workload : workloads()) {
    if (workload.mutant == name) return &workload;
  }
  return nullptr;
}

std::optional<sim::Program> exploration_of(std::string_view what) {
  if (const Workload* workload = find_workload(what)) return exploration_of(*workload);
  if (const Law* law = find_law(what)) return properties::exploration_of(*law);
  return std::nullopt;
}

int list() {
  for (const Workload& workload : workloads()) {
    fmt::print("{{\"mutant\": {}, \"depth\": {}}}\n", json_text(workload.mutant), workload.depth);
  }
  for (const Law* law : laws()) fmt::print("{{\"law\": {}}}\n", json_text(law->name));
  return 0;
}

int hunt(std::string_view what, const sim::ExploreOptions& options) {
  const Workload* workload = find_workload(what);
  const std::optional<sim::Program> known = exploration_of(what);
  if (!known) {
    fmt::print(stderr, "zoo_hunt: '{}' is neither an entry of the zoo nor a law\n", what);
    return 1;
  }
  const sim::Program& program = *known;
  const sim::ExploreResult result = sim::explore(options, program);
  if (!result.found) {
    fmt::print("{{\"runs\": {}, \"found\": false}}\n", result.runs);
    return 0;
  }
  const sim::FoundFailure& found = *result.found;
  sim::ExploreOptions again = options;
  again.seed = found.tape.seed;
  again.strategy = found.tape.strategy;
  again.runs = 1;
  const sim::ExploreResult replay = sim::explore(again, program);
  const bool replays = replay.found && replay.found->failure.message == found.failure.message &&
                       replay.found->tape.trace_hash == found.tape.trace_hash;
  const bool about = workload == nullptr || is_about(*workload, found.failure.message);
  fmt::print(
      "{{\"runs\": {}, \"found\": true, \"about\": {}, \"replays\": {}, \"seed\": {}, "
      "\"message\": {}}}\n",
      result.runs, about, replays, json_text(sim::seed_text(found.tape.seed)),
      json_text(found.failure.message));
  return 0;
}

}  // namespace
}  // namespace fermata::properties::zoo

int main(int argc, char** argv) {
  using namespace fermata;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  if (argc == 2 && std::string_view(argv[1]) == "list") return properties::zoo::list();
  if (argc != 5) {
    fmt::print(stderr, "usage: zoo_hunt list | zoo_hunt WHAT STRATEGY BASE-SEED LIMIT\n");
    return 1;
  }
  try {
    sim::ExploreOptions options;
    options.name = argv[1];
    options.strategy = argv[2];
    options.seed = sim::parse_seed(argv[3]);
    options.runs = sim::parse_seed(argv[4]);
    options.check_determinism = 0;
    return properties::zoo::hunt(argv[1], options);
  } catch (const Error& error) {
    fmt::print(stderr, "zoo_hunt: {}\n", error.what());
    return 1;
  }
}
