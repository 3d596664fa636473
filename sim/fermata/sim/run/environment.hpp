// SPDX-License-Identifier: Apache-2.0
#pragma once

// Every FERMATA_* variable there is. The process reads its options from these tables, and
// docs/environment.md is written from the one of what users may set.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "fermata/base/time.hpp"
#include "fermata/sim/base/run_limits.hpp"
#include "fermata/sim/guard/guard.hpp"
#include "fermata/sim/inspect/loaded_libraries.hpp"
#include "fermata/sim/machine/fault.hpp"
#include "fermata/sim/report/moment.hpp"
#include "fermata/sim/report/report_format.hpp"
#include "fermata/sim/tape/replay.hpp"

namespace fermata::sim {

/// Who must meet what FERMATA_SOMETIMES and FERMATA_REACHABLE claim.
enum class Obligations : std::uint8_t {
  Program,  // of all tests of a program together
  Test,     // and of each test, what it comes by
  Off,
};

/// Whether something is done: as is usual where it would be, always, or never.
enum class When : std::uint8_t { Auto, On, Off };

/// What is kept of a failing run beyond the usual.
enum class TraceMode : std::uint8_t {
  Off,
  All,    // its report shows every step
  Steps,  // the trace hash after each step is written next to its tape
};

struct Options {
  std::optional<std::uint64_t> seed;
  std::optional<std::uint64_t> runs;
  /// The number of the first run.
  std::uint64_t first_run = 0;
  /// Go on after a failure.
  bool keep_going = false;
  std::string strategy = "portfolio";
  /// The tape to replay; empty: explore.
  std::string replay;
  ReplayMode replay_mode = ReplayMode::Strict;
  FaultSet faults = FaultSet::all();
  std::string faults_text = "all";
  detail::RunLimits limits;
  /// Every how many runs one is executed twice; 0 for never.
  std::uint64_t check_determinism = 64;
  /// Whether such a run is also executed in another process, and in that of another build when its
  /// path is given.
  bool twin = false;
  std::string twin_program;
  /// What this process does as a twin, and where its answer belongs; empty: not a twin.
  std::string twin_task;
  bool full_audit = false;
  /// Whether a search may audit less than that of runs that are like many others.
  bool adaptive_audit = true;
  /// Whether reports have the functions of stacks.
  bool names = true;
  /// The step of a replay before which a debugger gets control; 0 for none.
  std::uint64_t break_at = 0;
  Obligations obligations = Obligations::Program;
  detail::GuardOptions guard;
  /// What foreign libraries may import.
  detail::ImportRules imports;
  /// The folder for tapes and traces.
  std::string out = "fermata-out";
  TraceMode trace = TraceMode::Off;
  /// Whether a failing run is made small, and explained; usual after exploring, not in a replay.
  When shrink = When::Auto;
  /// Shrinking ends after this many runs in a row without a smaller failing run.
  std::uint64_t shrink_runs = 500;
  When explain = When::Auto;
  /// Whether a report is written beside the tape of a run that failed; and the file for that of a
  /// replay, if one is wanted.
  bool reports = true;
  std::string report;
  /// Empty: what the name of that file says, and HTML beside a tape.
  std::optional<ReportFormat> report_format;
  /// Whether a replay prints the connections, and the files, and of which moment.
  bool shows_network = false;
  bool shows_disk = false;
  Moment moment;
  /// Where a fresh process leaves the result of the one run it was started for; empty: not one.
  std::string confirm;
  /// The last run of the exploration ends its process, or takes longer than this in real time: it
  /// is to be made small.
  std::optional<std::chrono::milliseconds> crash_limit;
  /// What comes of it is the same on every machine: runs limit the search, not real time.
  bool repeatable = false;
  /// How many runs this process and others make together; 0: unknown. Empty: it is alone.
  std::optional<std::uint64_t> all_runs;
  /// Where to list the simulated tests, instead of running any; empty: nowhere.
  std::string list;
  /// The files of the shared status and for what happens; empty: none.
  std::string status;
  std::string events;
  /// The test that a program linked with a fuzzer fuzzes, instead of running tests; empty: none.
  std::string fuzz;

  static constexpr std::uint64_t kDefaultSeed = 1;
  static constexpr std::uint64_t kDefaultRuns = 1'000;
};

/// The reader of a variable.
enum class Reader : std::uint8_t {
  Test,  // test processes; the tool hands it on
  Tool,  // the tool `fermata` alone
};

struct Variable {
  std::string_view name;
  std::string_view default_text;
  std::string_view meaning;
  /// Throws Error when `text` is not a valid value. Null: somebody else reads the variable.
  void (*read)(Options& options, std::string_view text);
  Reader reader = Reader::Test;
};

/// What users may set, in alphabetical order.
[[nodiscard]] std::span<const Variable> variables() noexcept;
/// What the tool and test processes set for the processes that they start, in alphabetical order.
[[nodiscard]] std::span<const Variable> internal_variables() noexcept;
/// From either table; null: there is none of this name.
[[nodiscard]] const Variable* find_variable(std::string_view name) noexcept;

/// "; did you mean FERMATA_SEED?", for a message about the unknown variable `name`; empty when
/// none has a similar name.
[[nodiscard]] std::string suggested_variable(std::string_view name);

/// Reads what begins with FERMATA_ in a null-terminated list of NAME=VALUE. Throws UsageError,
/// which names the variable, when it is unknown or malformed.
[[nodiscard]] Options read_environment(const char* const* environment);

/// The options of this process.
[[nodiscard]] const Options& process_options();

/// The text of docs/environment.md.
[[nodiscard]] std::string environment_document();

/// "on" or "off". Throws UsageError.
[[nodiscard]] bool parse_switch(std::string_view text);
/// "250ms"; the units are ns, us, ms, s, min and h. Throws UsageError.
[[nodiscard]] Duration parse_duration(std::string_view text);
/// In the largest unit that leaves no fraction; parse_duration reads it.
[[nodiscard]] std::string duration_text(Duration duration);

}  // namespace fermata::sim
