// SPDX-License-Identifier: Apache-2.0
#pragma once

// A program for the runtime as plain data: what RapidCheck makes and shrinks, what the interpreter
// runs, and what a failing law prints as short pseudo-code.

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "properties/scripts/step.hpp"

namespace fermata::properties {

/// What a step does; `subject` and `number` are from 0 to 7.
enum class Op : std::uint8_t {
  Suspend,
  Delay,        // number: milliseconds
  Consume,      // number: milliseconds of computing
  Spawn,        // subject: body
  Await,        // subject: coroutine; number: how (Patience)
  Wait,         // subject: event; number: how (Patience)
  WaitClosed,   // subject: event; sleeps on until the event is closed
  Cancel,       // subject: coroutine
  Protect,      // number: how many of the next steps
  Catch,        // number: how many of the next steps
  Throw,        //
  Subscribe,    // subject: event; number: callback
  Unsubscribe,  // subject: subscription
  Notify,       // subject: event
  Close,        // subject: event
  Start,        // subject: event
  Stop,         // subject: event
  Rearm,        // subject: event; number: milliseconds
  Hold,         // subject: event
  Drop,         // subject: event
  Finally,      // number: callback that runs in the end
  Microtask,    // number: callback to run
  Shutdown,     //
};
[[nodiscard]] constexpr Op op_of(const Step& step) noexcept { return static_cast<Op>(step.what); }

enum class ProgramEvent : std::uint8_t {
  Signal,     // fired by the program, keeps nothing
  Promise,    // fired by the program, keeps its outcome
  Once,       // a timer
  Periodic,   // a timer that closes after a few fires
  Multishot,  // a timer
  Hidden,     // a multishot timer that nobody is kept alive for
};

/// How long a wait lasts at most: the number of a step, from 0 to 7.
enum class Patience : std::uint8_t { ForEver, Never, Briefly, WithToken };
[[nodiscard]] constexpr Patience patience_of(std::uint8_t number) noexcept {
  if (number == 7) return Patience::Never;
  if (number == 6) return Patience::WithToken;
  return number >= 4 ? Patience::Briefly : Patience::ForEver;
}

struct Program {
  std::vector<ProgramEvent> events;
  /// The first one is the main coroutine's; the others are spawned.
  std::vector<Steps> bodies;
  std::vector<Steps> callbacks;
};

/// Several lines.
[[nodiscard]] std::string to_text(const Program& program);
std::ostream& operator<<(std::ostream& out, const Program& program);

}  // namespace fermata::properties
