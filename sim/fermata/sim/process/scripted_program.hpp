// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a simulated process does: a list of steps, one after the other. At their end it exits with
// code 0, unless they say otherwise. It may die before: of a signal, or because nobody reads what
// it writes.
//
//   world.program("lint", ScriptedProgram().takes(20ms).says("1 warning\n").exits(1));

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/base/time.hpp"

namespace fermata::sim {

class ScriptedProgram {
 public:
  struct Step {
    enum class Kind : std::uint8_t {
      Take,         // `duration` passes
      Write,        // `text` to the output, `number` 1, or to the errors, 2
      CopyInput,    // from the input to the output, until the input ends
      ReadInput,    // until it ends
      Ignore,       // signal `number` does nothing from here on
      LeaveBehind,  // at its end its streams stay open for `duration`, then `text` is written
      Exit,         // with code `number`
      Die,          // of signal `number`
    };
    Kind kind;
    int number = 0;
    Duration duration = Duration::zero();
    std::string text = {};
  };

  ScriptedProgram& takes(Duration duration) { return add({Step::Kind::Take, 0, duration}); }
  /// To its output, to its errors; waits while the pipe is full.
  ScriptedProgram& says(std::string text) { return write(1, std::move(text)); }
  ScriptedProgram& complains(std::string text) { return write(2, std::move(text)); }
  /// Copies its input to its output, like cat. An input that is not a pipe is at its end already.
  ScriptedProgram& copies_input() { return add({Step::Kind::CopyInput}); }
  ScriptedProgram& reads_input() { return add({Step::Kind::ReadInput}); }
  /// From here on; SIGKILL cannot be ignored.
  ScriptedProgram& ignores(int signum) { return add({Step::Kind::Ignore, signum}); }
  /// A child of its own, which has its streams: when it ends they stay open for `duration`, and
  /// then, if somebody reads, `text` is the last that comes from its output.
  ScriptedProgram& leaves_behind(Duration duration, std::string text = {}) {
    return add({.kind = Step::Kind::LeaveBehind,
                .number = 0,
                .duration = duration,
                .text = std::move(text)});
  }
  ScriptedProgram& exits(int code) { return add({Step::Kind::Exit, code}); }
  ScriptedProgram& dies_of(int signum) { return add({Step::Kind::Die, signum}); }

  [[nodiscard]] const std::vector<Step>& steps() const noexcept { return steps_; }

 private:
  ScriptedProgram& add(Step step) {
    steps_.push_back(std::move(step));
    return *this;
  }
  ScriptedProgram& write(int stream, std::string text) {
    FERMATA_ASSERT(stream >= 1);
    FERMATA_ASSERT(stream <= 2);
    return add({.kind = Step::Kind::Write,
                .number = stream,
                .duration = Duration::zero(),
                .text = std::move(text)});
  }

  std::vector<Step> steps_;
};

}  // namespace fermata::sim
