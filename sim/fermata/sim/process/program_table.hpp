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

/// What a program does when it is started like this.
using ProgramMaker = std::function<ScriptedProgram(const ProcessOptions&)>;

namespace detail {

class ProgramTable {
 public:
  void reset() noexcept;

  void set(std::string_view name, ProgramMaker maker);

  /// What starts with `options`; absent when there is no such program. A shell is always there:
  /// what it is to run is looked up as a whole, and it says so when there is no such command.
  [[nodiscard]] std::optional<ScriptedProgram> find(const ProcessOptions& options) const;

 private:
  std::map<std::string, ProgramMaker, std::less<>> makers_;
};

}  // namespace detail
}  // namespace fermata::sim
