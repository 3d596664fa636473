// SPDX-License-Identifier: Apache-2.0
#pragma once

// Trials of a run that ends its process, or hangs: each in a fork of this one. A smaller run counts
// when it ends its process in the same way and, as far as that is known, at the same place in the
// program.
//
// Cost    A fork for each run, and some twenty more. The search for a smaller crash ends after 6 s.
//         Of a hang everything takes at most two and a half times as long as a run may take, and
//         each run of the search half a second. A search that its runs limit has no other end.

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "fermata/sim/run/process/forked_runs.hpp"
#include "fermata/sim/run/runner.hpp"
#include "fermata/sim/run/trials.hpp"

namespace fermata::sim::detail {

/// Runs `program` in a fork with the decisions of `tape`, applied by key. With `naming` the result
/// has what they speak of.
[[nodiscard]] ForkedRun replay_in_fork(ForkedRuns& runs, const Program& program,
                                       const WorldOptions& options, const Tape& tape,
                                       bool naming = false);

class ForkedTrials final : public Trials {
 public:
  using Clock = std::chrono::steady_clock;
  /// Takes what is known of the smaller run before it is looked at in this process, and again when
  /// more is: should that kill this process too, it is all that remains.
  using Keep = std::function<void(const Tape& smaller)>;
  /// What ends the search, beside its success: real time, or only the runs it makes.
  enum class Bound : std::uint8_t { Time, Runs };

  /// `found` is a crash; a run of `program` may take `run_limit`. All must outlive this. Throws as
  /// ForkedRuns does.
  ForkedTrials(const Program& program, const WorldOptions& options, const FoundFailure& found,
               std::chrono::milliseconds run_limit, Keep keep, Bound bound = Bound::Time);

  bool comes_back_each_time() override;
  bool fails(const std::vector<Decision>& decisions, const std::string& rapidcheck) override;
  [[nodiscard]] std::vector<Decision> decisions() const override { return last_.decisions; }
  [[nodiscard]] std::uint64_t steps() const override { return 0; }
  /// None of a run that would end this process.
  std::vector<Decision> alternatives(const std::vector<Decision>& decisions,
                                     const std::string& rapidcheck) override;
  [[nodiscard]] bool ran_out_of_time() const override { return out_of_time_; }
  [[nodiscard]] std::string cost() const override { return "in processes of their own"; }
  /// Up to the step that ends the process; when the first one does, only what is on the tape.
  std::optional<FoundFailure> look_closely(const Tape& tape) override;

 private:
  [[nodiscard]] Tape with(const std::vector<Decision>& decisions,
                          const std::string& rapidcheck) const;
  bool dies(const Tape& tape);
  bool still_hangs(const Tape& tape);
  [[nodiscard]] std::optional<std::uint64_t> steps_alive(const Tape& tape);

  const Program& program_;
  WorldOptions options_;
  const Tape& tape_;
  const ProcessEnd& end_;
  std::chrono::milliseconds run_limit_;
  std::chrono::milliseconds trial_limit_;
  Keep keep_;
  Bound bound_;
  ForkedRuns runs_;
  ForkedRun last_;
  Clock::time_point deadline_ = Clock::time_point::max();  // From then on fails() is never true.
  bool out_of_time_ = false;
};

}  // namespace fermata::sim::detail
