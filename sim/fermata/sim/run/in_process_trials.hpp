// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "fermata/sim/run/runner.hpp"
#include "fermata/sim/run/trials.hpp"

namespace fermata::sim {

/// Trials with one runner in this process.
class InProcessTrials final : public Trials {
 public:
  /// `program` and `tape` must outlive this; `options` are those of the world of the tape.
  InProcessTrials(const Program& program, const WorldOptions& options, const Tape& tape)
      : program_(program), options_(options), tape_(tape) {}

  bool comes_back_each_time() override { return true; }
  bool fails(const std::vector<Decision>& decisions, const std::string& rapidcheck) override;
  [[nodiscard]] std::vector<Decision> decisions() const override;
  [[nodiscard]] std::uint64_t steps() const override;
  std::vector<Decision> alternatives(const std::vector<Decision>& decisions,
                                     const std::string& rapidcheck) override;
  [[nodiscard]] bool ran_out_of_time() const override { return false; }
  [[nodiscard]] std::string cost() const override { return {}; }
  std::optional<FoundFailure> look_closely(const Tape& tape) override;

 private:
  RunResult run(const std::vector<Decision>& decisions, const std::string& rapidcheck);
  Runner& runner();

  const Program& program_;
  const WorldOptions options_;
  const Tape& tape_;
  std::optional<Runner> runner_;  // While the search goes on; it takes what this thread prints.
};

}  // namespace fermata::sim
