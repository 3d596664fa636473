// SPDX-License-Identifier: Apache-2.0
#pragma once

// Programs that bodies about processes start: the system's own, and scripts that do the same in a
// simulated world.

#include <csignal>
#include <string>

#include "fermata/base/function_ref.hpp"
#include "tests/conformance/arms.hpp"

namespace fermata::conformance {

namespace commands {
inline constexpr const char* kHello = "printf hello";
inline constexpr const char* kExit3 = "exit 3";
inline constexpr const char* kKillsItself = "kill -9 $$";
inline constexpr const char* kRests = "exec sleep 30";
inline constexpr const char* kRestsAWhile = "exec sleep 0.02";
inline constexpr const char* kIgnoresTerm = "trap '' TERM; echo ready; sleep 0.05; exit 4";
inline constexpr const char* kBothStreams = "printf out; printf err >&2";
inline constexpr const char* kGreets = "printf \"$GREETING\"";
inline constexpr const char* kWhere = "pwd";
inline constexpr const char* kSlowLines =
    "printf 'one \\ntw'; sleep 0.02; printf 'o\\n\\nlast  '; sleep 0.02; printf ' '";
inline constexpr const char* kBlankLines = "printf 'a\\n\\n'";
inline constexpr const char* kALot = "head -c 300000 /dev/zero";
inline constexpr const char* kNone = "fermata_has_no_such_command 2>/dev/null";
inline constexpr const char* kShortGrandchild = "(sleep 0.03; printf late) & printf early";
inline constexpr const char* kLongGrandchild = "printf early; sleep 5 & exit 2";
inline constexpr const char* kWritesForEver = "exec cat /dev/zero";
}  // namespace commands

struct ProgramsOnUv : UvArm {};

struct ProgramsOnSim : SimArm {
  static void run(detail::FunctionRef<void()> body) { SimArm::run(body, write_scripts); }

 private:
  static std::string value_of(const char* name, const ProcessOptions& options) {
    const std::string prefix = std::string(name) + "=";
    for (const std::string& each : options.environment.value()) {
      if (each.rfind(prefix, 0) == 0) return each.substr(prefix.size());
    }
    return {};
  }

  static void write_scripts(sim::World& world) {
    using namespace std::chrono_literals;
    using sim::ScriptedProgram;
    world.program("cat", ScriptedProgram().copies_input());
    world.program("true", ScriptedProgram());
    world.program(commands::kHello, ScriptedProgram().says("hello"));
    world.program(commands::kExit3, ScriptedProgram().exits(3));
    world.program(commands::kKillsItself, ScriptedProgram().dies_of(SIGKILL));
    world.program(commands::kRests, ScriptedProgram().takes(30s));
    world.program(commands::kRestsAWhile, ScriptedProgram().takes(20ms));
    world.program(commands::kIgnoresTerm,
                  ScriptedProgram().ignores(SIGTERM).says("ready\n").takes(50ms).exits(4));
    world.program(commands::kBothStreams, ScriptedProgram().says("out").complains("err"));
    world.program(commands::kGreets, [](const ProcessOptions& options) {
      return ScriptedProgram().says(value_of("GREETING", options));
    });
    world.program(commands::kWhere, [](const ProcessOptions& options) {
      return ScriptedProgram().says(options.directory + "\n");
    });
    world.program(
        commands::kSlowLines,
        ScriptedProgram().says("one \ntw").takes(20ms).says("o\n\nlast  ").takes(20ms).says(" "));
    world.program(commands::kBlankLines, ScriptedProgram().says("a\n\n"));
    world.program(commands::kALot, ScriptedProgram().says(std::string(300'000, '\0')));
    world.program(commands::kShortGrandchild,
                  ScriptedProgram().says("early").leaves_behind(30ms, "late"));
    world.program(commands::kLongGrandchild,
                  ScriptedProgram().says("early").leaves_behind(5s, "").exits(2));
    world.program(commands::kWritesForEver, ScriptedProgram().says(std::string(10'000'000, '\0')));
  }
};

using Programs = ::testing::Types<ProgramsOnUv, ProgramsOnSim>;

}  // namespace fermata::conformance
