// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/fuzz/session.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/sim/base/seed.hpp"
#include "fermata/sim/run/run_sums.hpp"
#include "fermata/sim/run/world_options.hpp"
#include "fermata/sim/run/worst_verdict.hpp"

namespace fermata::sim::detail {
namespace {

FuzzDriver the_driver = nullptr;

void fuzz_with_driver(const FuzzedTest& test) {
  FERMATA_ASSERT(the_driver != nullptr);
  FuzzSession session(test);
  the_driver(session);
}

}  // namespace

void register_fuzz_driver(FuzzDriver driver) noexcept {
  FERMATA_ASSERT(driver != nullptr);
  the_driver = driver;
  register_fuzzer(&fuzz_with_driver);
}

FuzzSession::FuzzSession(const FuzzedTest& test) : test_(test) { make_target(); }

void FuzzSession::make_target() {
  target_ = std::make_unique<FuzzTarget>(test_.program, world_options(test_.options));
}

bool FuzzSession::run(std::span<const std::uint8_t> bytes) {
  FERMATA_ASSERT(target_ != nullptr);
  const RunResult result = target_->run(bytes);
  const Runner& runner = target_->runner();
  if (!result.failure) {
    add_run(passed_, result, passed_.runs, runner.world());
    return true;
  }
  passed_.catalogue.add(Catalogue::of_program(runner.assertion_counts()));
  if (before_report_ != nullptr) before_report_();
  std::string strategy = target_->strategy();
  const std::uint64_t seed = target_->input().seed;
  target_.reset();  // What is printed from here on is for people.
  report(std::move(strategy), seed);
  make_target();
  return false;
}

void FuzzSession::tell_end() const {
  FERMATA_ASSERT(passed_.failures == 0);
  ExploreResult all = passed_;
  all.longest = {};  // They are found by their seeds, and an input is more than that.
  if (target_) all.catalogue.add(Catalogue::of_program(target_->runner().assertion_counts()));
  test_.events.explored(options(), all);
}

ExploreOptions FuzzSession::options() const {
  FERMATA_ASSERT(!test_.name.empty());
  ExploreOptions options;
  options.name = test_.name;
  options.faults = test_.options.faults_text;
  options.world = world_options(test_.options);
  return options;
}

// The run is made again as an exploration of one run: so it comes to the same tape and report.
void FuzzSession::report(std::string strategy, std::uint64_t seed) {
  FERMATA_ASSERT(target_ == nullptr);
  ExploreOptions one = options();
  one.runs = 1;
  one.seed = seed;
  one.strategy = std::move(strategy);
  one.check_determinism = 0;
  ExploreResult result = explore(one, test_.program);
  if (!result.found) {
    note_verdict(Verdict::Nondeterminism);
    ADD_FAILURE() << "nondeterminism: state leaks between runs: an input failed after others, and "
                     "does not fail when it is run again; it is FERMATA_SEED="
                  << seed_text(seed) << " FERMATA_STRATEGY=" << one.strategy;
    return;
  }
  FERMATA_ASSERT(result.found->run == 0);
  const Reproduction reproduction{seed, 1, one.strategy};
  test_.failures.explored(std::move(*result.found), reproduction, 1);
}

}  // namespace fermata::sim::detail
