// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fermata/sim/record/found_failure.hpp"
#include "fermata/sim/tape/decisions.hpp"

namespace fermata::sim {

/// Executes runs for the search for a smaller failing run: in this process, or in others when runs
/// may end their process.
class Trials {
 public:
  /// False: the decisions of the tape, applied by key, do not lead to its failure every time, and a
  /// search would be in vain. Called first.
  virtual bool comes_back_each_time() = 0;

  /// Runs the program of the tape with these decisions, by key. Whether it fails as the tape says;
  /// then decisions() are those that it has used, in the order of the run.
  virtual bool fails(const std::vector<Decision>& decisions, const std::string& rapidcheck) = 0;
  [[nodiscard]] virtual std::vector<Decision> decisions() const = 0;
  /// Steps of the last run; 0 when that is not known.
  [[nodiscard]] virtual std::uint64_t steps() const = 0;
  /// The alternatives that DecisionLog lists, for another run, which need not fail.
  virtual std::vector<Decision> alternatives(const std::vector<Decision>& decisions,
                                             const std::string& rapidcheck) = 0;

  /// Some smaller runs were not tried for want of time.
  [[nodiscard]] virtual bool ran_out_of_time() const = 0;
  /// The cost of the runs besides their number, for Shrunk.
  [[nodiscard]] virtual std::string cost() const = 0;

  /// The run of `tape`, which is the result of the search, with all that can be seen of it; called
  /// last. Nothing when it does not fail as the tape says.
  virtual std::optional<FoundFailure> look_closely(const Tape& tape) = 0;

 protected:
  ~Trials() = default;
};

}  // namespace fermata::sim
