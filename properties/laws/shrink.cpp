// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "fermata/sim/base/seed.hpp"
#include "properties/laws/law.hpp"
#include "properties/models/complaint.hpp"

namespace fermata::properties {
namespace {

constexpr std::uint64_t kSchedules = 20;  // For each candidate.
constexpr int kCandidates = 4'000;

/// The rule at the head of a complaint.
std::string_view rule_of(std::string_view complaint) {
  return complaint.substr(0, complaint.find(':'));
}

/// Plays candidates, each under a few schedules.
class Shrinker {
 public:
  Shrinker(std::string_view strategy, std::uint64_t seed)
      : runner_(program_, strategy, {}), seed_(seed) {
    program_.body = [this](sim::World& world) { scenario_.play(world); };
  }

  /// What `candidate` breaks: `rule` only, when it is not empty.
  models::Complaint complaint_of(Scenario candidate, std::string_view rule) {
    scenario_ = std::move(candidate);
    for (std::uint64_t schedule = 0; schedule < kSchedules; ++schedule) {
      const sim::RunResult result = runner_.run(sim::run_seed(seed_, schedule));
      runner_.learn();
      if (!result.failure) continue;
      const models::Complaint& complaint = result.failure->message;
      if (rule.empty() || rule_of(complaint) == rule) return complaint;
    }
    return {};
  }

 private:
  Scenario scenario_;
  sim::Program program_;
  sim::Runner runner_;
  std::uint64_t seed_;
};

}  // namespace

std::string shrunk(const Law& law, std::string_view strategy, std::uint64_t seed) {
  Shrinker shrinker(strategy, seed);
  rc::Shrinkable<Scenario> smallest = seeded(law)(seed);
  models::Complaint complaint = shrinker.complaint_of(smallest.value(), "");
  const std::string rule(rule_of(complaint));
  int left = kCandidates;
  for (bool smaller = !complaint.empty(); smaller;) {
    smaller = false;
    auto shrinks = smallest.shrinks();
    while (auto candidate = shrinks.next()) {
      if (--left < 0) break;
      models::Complaint one = shrinker.complaint_of(candidate->value(), rule);
      if (one.empty()) continue;
      complaint = std::move(one);
      smallest = *candidate;
      smaller = true;
      break;
    }
  }
  return complaint.empty() ? std::string() : complaint + "\n" + smallest.value().text();
}

}  // namespace fermata::properties
