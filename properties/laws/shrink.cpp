// SPDX-License-Identifier: Apache-2.0
#include "properties/laws/shrink.hpp"

#include <optional>

#include "fermata/sim/base/seed.hpp"
#include "fermata/sim/strategy/make_strategy.hpp"
#include "fermata/sim/tape/decisions.hpp"
#include "properties/laws/smallest.hpp"

namespace fermata::properties {
namespace {

constexpr std::uint64_t kSchedules = 20;  // For each candidate.

class Shrinker {
 public:
  Shrinker(std::string_view strategy, std::uint64_t seed)
      : strategy_(sim::make_strategy(strategy)), decisions_(*strategy_), seed_(seed) {}

  /// What `program` breaks; the rule of `expected` only, when that is given.
  models::Complaint complaint_of(const Program& program, std::string_view expected) {
    for (std::uint64_t schedule = 0; schedule < kSchedules; ++schedule) {
      decisions_.begin(sim::run_seed(seed_, schedule));
      const models::Complaint complaint = machine_.run(&decisions_, program);
      decisions_.end();
      if (!complaint.empty() && (expected.empty() || rule_of(complaint) == expected)) {
        return complaint;
      }
    }
    return {};
  }

 private:
  std::unique_ptr<sim::Strategy> strategy_;
  sim::Decisions decisions_;
  std::uint64_t seed_;
  Machine machine_;
};

}  // namespace

models::Complaint first_complaint(const Program& program, std::string_view strategy,
                                  std::uint64_t seed) {
  return Shrinker(strategy, seed).complaint_of(program, "");
}

std::string shrunk(const Law& law, std::string_view strategy, std::uint64_t seed) {
  Shrinker shrinker(strategy, seed);
  const auto [program, complaint] = smallest_failing(
      shrinkable_program(law.profile, seed), [&](const Program& candidate, std::string_view rule) {
        return shrinker.complaint_of(candidate, rule);
      });
  return complaint.empty() ? std::string() : complaint + "\n" + to_text(program);
}

}  // namespace fermata::properties
