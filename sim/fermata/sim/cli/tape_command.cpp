// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/tape_command.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string>

#include "fermata/base/error.hpp"
#include "fermata/sim/cli/test_binary.hpp"
#include "fermata/sim/tape/tape.hpp"

namespace fermata::sim::cli {
namespace {

std::string program_of(const Tape& tape, const std::string& path, const Arguments& arguments) {
  const std::string chosen = arguments.value("FERMATA_PROGRAM");
  if (!chosen.empty()) return chosen;
  if (tape.program.empty()) {
    throw UsageError(
        fmt::format("{} does not say which program it is of; --program names it", path));
  }
  if (!std::filesystem::exists(tape.program)) {
    throw UsageError(
        fmt::format("{}, which has written {}, no longer exists (paths are "
                    "relative to the folder it ran in); --program names it",
                    tape.program, path));
  }
  return tape.program;
}

}  // namespace

Command command_for_tape(const Arguments& arguments) {
  const std::string& path = arguments.operands.front();
  const Tape tape = load_tape(path);
  const std::string program = program_of(tape, path, arguments);
  const TestBinary binary(program);
  bool has_test = false;
  for (const ListedTest& test : binary.tests()) has_test = has_test || test.name == tape.test;
  if (!has_test) {
    throw UsageError(
        fmt::format("{} is a tape of {}, which {} does not have; --program names "
                    "another one",
                    path, tape.test, program));
  }
  Command command = binary.command_for(tape.test);
  command.settings.emplace_back("FERMATA_REPLAY", path);
  return command;
}

}  // namespace fermata::sim::cli
