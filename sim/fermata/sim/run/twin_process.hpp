// SPDX-License-Identifier: Apache-2.0
#pragma once

// What one process asks another one that is its twin: to make some runs again in other
// circumstances, and to say what they came to. Both sides of it.

#include <cstdint>
#include <string>
#include <vector>

#include "fermata/sim/run/fresh_process.hpp"
#include "fermata/sim/run/reproduce.hpp"
#include "fermata/sim/run/runner.hpp"
#include "fermata/sim/run/step_difference.hpp"

namespace fermata::sim::detail {

/// In what the twin is another process.
struct Circumstances {
  bool memory = false;       // no random layout, other stacks, another heap with another fill
  bool environment = false;  // other variables, in another order
  bool locale = false;
  std::string program;  // Of another build; empty: this one.

  /// ", with another environment"; empty when nothing but the process is another one.
  [[nodiscard]] std::string text() const;
};

struct TwinRun {
  std::uint64_t seed = 0;
  std::string strategy;
};

/// A twin of `test` of this process.
class Twin {
 public:
  /// `settings` are those that decide what the runs will be.
  Twin(std::string test, Settings settings, Circumstances circumstances);

  /// One fingerprint for each run, in order; fewer when the process ended early.
  [[nodiscard]] std::vector<Fingerprint> results_of(const std::vector<TwinRun>& runs) const;
  [[nodiscard]] std::vector<std::uint64_t> steps_of(const TwinRun& run) const;
  [[nodiscard]] StepAccount account_of(const TwinRun& run, std::uint64_t step) const;

 private:
  [[nodiscard]] std::string ask(const std::string& what, const std::vector<TwinRun>& runs) const;

  std::string test_;
  Settings settings_;
  Circumstances circumstances_;
};

/// In the twin: does what the file at `path` asks for, and leaves the answer beside it. Throws
/// UsageError when it is not such a file.
void run_as_twin(const Program& program, const WorldOptions& options, const std::string& path);

}  // namespace fermata::sim::detail
