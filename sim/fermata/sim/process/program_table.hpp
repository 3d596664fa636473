// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which programs there are in a simulated world, the same on every machine.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "fermata/reactor/process.hpp"
#include "fermata/sim/process/scripted_program.hpp"

namespace fermata::sim {

/// Makes the script of a program from the options that it is started with.
using ProgramMaker = std::function<ScriptedProgram(const ProcessOptions&)>;

namespace detail {

class ProgramTable {
 public:
  void reset() noexcept;

  void set(std::string_view name, ProgramMaker maker);

  /// The program that starts with `options`; absent when there is none. A shell always exists: its
  /// command is looked up as a whole, and it reports when there is no such command.
  [[nodiscard]] std::optional<ScriptedProgram> find(const ProcessOptions& options) const;

 private:
  std::map<std::string, ProgramMaker, std::less<>> makers_;
};

}  // namespace detail
}  // namespace fermata::sim
