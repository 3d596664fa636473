// SPDX-License-Identifier: Apache-2.0
#include "properties/controls/canary.hpp"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string_view>

#include "fermata/sim/run/explore.hpp"

namespace fermata::properties {
namespace {

struct Told {
  sim::Verdict verdict = sim::Verdict::Missed;
  std::string text;
  std::uint64_t step = 0;
  std::string wait_class = {};
};

/// What is told of the first run that fails; when all pass, what never happened in them.
Told tell(const Canary& canary) {
  using namespace std::chrono_literals;
  sim::ExploreOptions options;
  options.runs = 4;
  options.strategy = "fifo";
  options.faults = "none";
  options.check_determinism = 1;
  options.world.time_limit = 1h;
  options.world.step_limit = 2000;
  options.world.instant_limit = 1000;
  const sim::ExploreResult result = sim::explore(options, canary.program);
  if (!result.found) {
    Told told{.text = "missed", .step = result.steps_max};
    for (const sim::Claim& claim : result.catalogue.missed()) told.text += "\n" + claim.text();
    return told;
  }
  const sim::Failure& failure = result.found->failure;
  Told told{failure.verdict, failure.message + "\n" + failure.explanation, result.found->steps};
  for (const std::string& history : result.found->histories) told.text += "\n" + history;
  if (!failure.wait_graph.empty()) {
    told.wait_class = nlohmann::ordered_json::parse(failure.wait_graph)["class"];
  }
  return told;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// What `told` lacks, in words; empty when it lacks nothing.
std::string lack_of(const Canary& canary, const Told& told) {
  if (told.verdict != canary.verdict) {
    return fmt::format("expected the verdict {}, not {}", to_string(canary.verdict),
                       to_string(told.verdict));
  }
  if (!has(told.text, canary.says)) return fmt::format("expected to read \"{}\"", canary.says);
  if (told.step > canary.step) {
    return fmt::format("expected it by step {}, not {}", canary.step, told.step);
  }
  if (const auto* kind = std::get_if<sim::detail::WaitClass>(&canary.kind)) {
    const std::string expected = to_string(*kind);
    if (told.wait_class != expected) {
      return fmt::format("expected the class '{}', not '{}'", expected, told.wait_class);
    }
  }
  if (const auto* kind = std::get_if<backend::EventKind>(&canary.kind)) {
    const std::string expected = std::string(to_string(*kind)) + " ";
    if (!has(told.text, expected)) return fmt::format("expected to read \"{}\"", expected);
  }
  return {};
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Canary& canary) { return out << canary.name; }

std::vector<Canary> canaries() {
  std::vector<Canary> all = wrong_runs();
  std::vector<Canary> leaks = leaking_runs();
  all.insert(all.end(), std::make_move_iterator(leaks.begin()),
             std::make_move_iterator(leaks.end()));
  return all;
}

std::string complaint_about(const Canary& canary) {
  const Told told = tell(canary);
  const std::string lack = lack_of(canary, told);
  return lack.empty() ? lack : lack + "\n" + told.text;
}

}  // namespace fermata::properties
