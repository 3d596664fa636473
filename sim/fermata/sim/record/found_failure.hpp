// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fermata/base/time.hpp"
#include "fermata/sim/record/crash.hpp"
#include "fermata/sim/record/failure.hpp"
#include "fermata/sim/tape/tape.hpp"

namespace fermata::sim {

class RunLog;

/// A run that failed, and all there is to tell about it.
struct FoundFailure {
  Failure failure;
  /// Counted from 0, also in a part of an exploration.
  std::uint64_t run = 0;
  /// Whether its seed led to the same run again, in this process.
  bool repeatable = true;
  /// The tape: its decisions, with names, and everything else that determines the run.
  Tape tape;
  std::uint64_t steps = 0;
  Instant end;
  /// The faults that the run had, a line each.
  std::string faults;
  /// The output of the run and the logs of its runtimes, with virtual time and coroutine.
  std::string output;
  std::string arguments;
  /// The trace hash after each step.
  std::vector<std::uint64_t> step_hashes;
  /// The log of the run, step by step.
  std::shared_ptr<const RunLog> run_log;
  /// The records of its Histories, each as a JSON object.
  std::vector<std::string> histories;
  /// What is known of a run that has ended its process, or hangs: nothing else is known of its end.
  std::optional<Crash> crash;

  /// The failure's; of a crash "crash: ..." or "hang: ...".
  [[nodiscard]] std::string signature() const {
    return crash ? crash->end.signature() : failure.signature();
  }
  /// The word for its verdict; or "crash", "hang".
  [[nodiscard]] std::string failure_class() const {
    if (!crash) return to_string(failure.verdict);
    return crash->end.kind == ProcessEnd::Kind::Hang ? "hang" : "crash";
  }
};

}  // namespace fermata::sim
