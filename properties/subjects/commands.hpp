// SPDX-License-Identifier: Apache-2.0
#pragma once

// Shell commands as part of a law: each is run once, and what comes of it is compared with its
// script.

#include <cstddef>
#include <cstdint>
#include <string>

#include "fermata/io/exec.hpp"
#include "fermata/runtime.hpp"
#include "properties/models/child_model.hpp"
#include "properties/scripts/stage.hpp"

namespace fermata::properties {

class Commands {
 public:
  explicit Commands(Stage& stage) : stage_(stage) {}

  /// Runs a command in one of the ways there are. Suspends.
  void run(const Cue& cue);

  [[nodiscard]] bool is_idle() const { return running_ == 0; }

 private:
  enum Way : std::uint8_t { kLast, kLines, kSystem, kPassthru, kAll };
  static constexpr std::size_t kWays = 5;

  /// What came, and what was asked for.
  struct Outcome {
    std::string command;
    Way way;
    ExecOptions how;
    ExecResult result;
    std::string sunk;  // What the sink was given.
    std::vector<std::string> lines = {"before"};
  };

  /// What is called `name` from now on; there is none of the last manner.
  [[nodiscard]] models::ScriptModel add(const std::string& name, std::size_t manner);
  ExecResult execute(Outcome& outcome, const OutputSink& sink, const WaitOptions& options);
  void check(const models::ScriptModel& script, const Outcome& outcome);
  void check_text(const models::ScriptModel& script, const Outcome& outcome);
  /// Whether `output` is what came out.
  [[nodiscard]] static bool is_text(const std::string& output, const Outcome& outcome);
  void check_end(const models::ScriptModel& script, const Outcome& outcome);

  Stage& stage_;
  std::size_t running_ = 0;
  std::uint64_t count_ = 0;
};

/// Complains of an error at the start of a process, which was `begun` then, unless a fault explains
/// it.
void check_spawn_error(Stage& stage, const std::string& program, const InputOutputError& error,
                       const Causes::Beginning& begun);

}  // namespace fermata::properties
