// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "fermata/sim/record/found_failure.hpp"
#include "fermata/sim/run/environment.hpp"
#include "fermata/sim/run/explore.hpp"
#include "fermata/sim/run/forked_trials.hpp"

namespace fermata::sim::detail {

/// Makes a run again that has ended its process, or did not end: in forks of this process, which
/// stays whole.
class CrashReproducer {
 public:
  /// Both must outlive this.
  CrashReproducer(const Program& program, const Options& options) noexcept
      : program_(program), options_(options) {}

  /// The last run of `exploration`. Nothing when it ends well this time, or is too long for a tape.
  [[nodiscard]] std::optional<FoundFailure> find(ExploreOptions exploration) const;
  /// The run of the tape in `path`. Throws Error when it does not end its process as the tape says.
  [[nodiscard]] FoundFailure find(const Tape& tape, const std::string& path) const;

  /// How long a run may take.
  [[nodiscard]] std::chrono::milliseconds run_limit() const noexcept;

 private:
  const Program& program_;
  const Options& options_;
};

}  // namespace fermata::sim::detail
