// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/process/program_table.hpp"

#include <utility>

namespace fermata::sim::detail {

namespace {

constexpr int kCommandNotFound = 127;

bool runs_a_command(const ProcessOptions& options) {
  return (options.program == "/bin/sh" || options.program == "sh") &&
         options.arguments.size() >= 2 && options.arguments[0] == "-c";
}

}  // namespace

void ProgramTable::reset() noexcept { makers_.clear(); }

void ProgramTable::set(std::string_view name, ProgramMaker maker) {
  makers_.insert_or_assign(std::string(name), std::move(maker));
}

std::optional<ScriptedProgram> ProgramTable::find(const ProcessOptions& options) const {
  const bool shell = runs_a_command(options);
  const std::string& name = shell ? options.arguments[1] : options.program;
  if (const auto found = makers_.find(name); found != makers_.end()) {
    return found->second(options);
  }
  if (!shell) return std::nullopt;
  return ScriptedProgram().complains("sh: 1: " + name + ": not found\n").exits(kCommandNotFound);
}

}  // namespace fermata::sim::detail
