// SPDX-License-Identifier: Apache-2.0
#pragma once

// One program of a `fermata run`: its tests, its output folder, its exploration.

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fermata/sim/cli/exploration.hpp"
#include "fermata/sim/cli/outcome.hpp"
#include "fermata/sim/cli/result_folder.hpp"
#include "fermata/sim/cli/run_options.hpp"
#include "fermata/sim/cli/test_binary.hpp"

namespace fermata::sim::cli {

class ProgramRun {
 public:
  /// The run of `tests` of `binary`, which must outlive this. `name` is that of the program among
  /// several; empty: it is alone. Nothing is explored or written yet.
  ProgramRun(RunOptions options, const TestBinary& binary, const std::vector<ListedTest>& tests,
             std::string name);
  ProgramRun(const ProgramRun&) = delete;
  ProgramRun& operator=(const ProgramRun&) = delete;

  /// Takes its output folder, with what an interrupted exploration has left there, and writes down
  /// what is to be explored. Throws UsageError when it cannot.
  void prepare();

  /// Explores, and prints what comes of it. `time` is for this program, and `later` for those after
  /// it; without `time` nobody has set a limit. REQUIRES: it is prepared.
  Exploration::End explore(std::optional<std::chrono::milliseconds> time,
                           std::chrono::milliseconds later);

  [[nodiscard]] RunOutcome outcome() const;
  /// The exploration is done: nothing goes on from its folder.
  void complete();

  [[nodiscard]] const ResultFolder& folder() const noexcept { return folder_; }

 private:
  [[nodiscard]] bool goes_on() const;
  void print_first_line() const;

  RunOptions options_;
  const TestBinary& binary_;
  std::string name_;
  Plan plan_;
  ResultFolder folder_;
  std::optional<Exploration> exploration_;
  std::optional<std::uint64_t> resumed_;  // Runs.
  bool interrupted_ = false;
};

/// The programs of `paths` that have tests which the filter selects, prepared. Of several each has
/// a folder of its own in the output folder, named after it. Throws UsageError when there is no
/// such program, or one twice, when nothing is selected, or when an option is for one program
/// alone. `binaries` gets the programs, and must outlive the result.
[[nodiscard]] std::vector<std::unique_ptr<ProgramRun>> prepare_programs(
    const RunOptions& options, const std::vector<std::string>& paths,
    std::vector<std::unique_ptr<TestBinary>>& binaries);

}  // namespace fermata::sim::cli
