// SPDX-License-Identifier: Apache-2.0
#pragma once

// Scripts that simulated processes perform in laws.

#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <string>

#include "fermata/sim/process/scripted_program.hpp"
#include "properties/models/child_model.hpp"

namespace fermata::properties {

/// Lines, long and short and empty, some with white space at their end.
[[nodiscard]] inline std::string some_text(std::uint64_t number, std::size_t size) {
  constexpr std::array kLetters = {'a', 'b', 'c', 'd', 'e', ' ', '\t', '\n'};
  std::string text(size, ' ');
  std::uint64_t hash = number;
  for (char& each : text) {
    hash = hash * 0x9e3779b97f4a7c15 + 0x632be59bd9b4e019;
    each = kLetters[hash >> 61];
  }
  return text;
}

enum class Manner : std::uint8_t {
  Speaks,
  Copies,
  Listens,
  SpeaksALot,
  ComplainsALot,
  Ignores,
  DiesItself,
  LeavesBehind,
  RunsForEver,
};
inline constexpr std::size_t kManners = 9;

/// A script of that manner; `number` tells it from others.
[[nodiscard]] inline sim::ScriptedProgram some_script(Manner manner, std::uint64_t number) {
  using std::chrono::milliseconds;
  constexpr std::array kLatenesses = {milliseconds(5), milliseconds(100), milliseconds(3'000)};
  constexpr std::array kDeaths = {SIGKILL, SIGSEGV, SIGTERM};
  constexpr std::size_t kMore = 90'000;  // Than a pipe holds.
  const std::string text = some_text(number, number % 40);
  const int code = static_cast<int>(number % 4);
  sim::ScriptedProgram script;
  switch (manner) {
    case Manner::Speaks:
      return script.says(text)
          .takes(milliseconds(number % 5))
          .says(text)
          .complains(text)
          .exits(code);
    case Manner::Copies:
      return script.copies_input().exits(code);
    case Manner::Listens:
      return script.says(text).reads_input().says(text).exits(code);
    case Manner::SpeaksALot:
      return script.says(some_text(number, kMore)).complains(text).exits(code);
    case Manner::ComplainsALot:
      return script.complains(some_text(number, kMore)).says(text).exits(code);
    case Manner::Ignores:
      return script.ignores(SIGTERM).says(text).takes(milliseconds(30)).exits(code);
    case Manner::DiesItself:
      return script.says(text).takes(milliseconds(number % 3)).dies_of(kDeaths[number % 3]);
    case Manner::LeavesBehind:
      return script.says(text).leaves_behind(kLatenesses[number % 3], text).exits(code);
    case Manner::RunsForEver:
      return script.says(text).takes(std::chrono::seconds(1'000));
  }
  return script;
}

[[nodiscard]] inline models::ScriptModel model_of(const sim::ScriptedProgram& script) {
  using Kind = sim::ScriptedProgram::Step::Kind;
  models::ScriptModel model;
  for (const auto& step : script.steps()) {
    switch (step.kind) {
      case Kind::Take:
        model.takes += step.duration;
        break;
      case Kind::Write:
        (step.number == 1 ? model.output : model.errors) += step.text;
        break;
      case Kind::CopyInput:
        model.copies_input = model.reads_input = true;
        break;
      case Kind::ReadInput:
        model.reads_input = true;
        break;
      case Kind::Ignore:
        model.ignores_sigterm = model.ignores_sigterm || step.number == SIGTERM;
        break;
      case Kind::LeaveBehind:
        model.late = step.text;
        model.lateness = step.duration;
        break;
      case Kind::Exit:
        model.end = step.number;
        return model;
      case Kind::Die:
        model.end = -step.number;
        return model;
    }
  }
  return model;
}

}  // namespace fermata::properties
