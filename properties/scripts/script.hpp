// SPDX-License-Identifier: Apache-2.0
#pragma once

// A generated program over one primitive: 2 to 8 actors, now and then up to 60, each with a list of
// steps.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "properties/scripts/step.hpp"

namespace fermata::properties {

/// What every actor can do, whatever the subject.
enum class Common : std::uint8_t {
  Pause,   // lets the others go first
  Nap,     // number: milliseconds
  Cancel,  // number: an actor
  Throw,   // ends the actor with an error
  Fire,    // fires the token that waits share, or calls off their deadline
  Leave,   // the actor's next operation is left to the end of something; number: of what
};
inline constexpr std::uint8_t kCommonCount = 6;

class Subject;
struct Cue;

/// Something that actors do with the subject; how often, where common things weigh 11 together.
struct Operation {
  std::uint8_t weight;
  std::string_view name;
  void (*carry_out)(Subject& subject, const Cue& cue);
  /// It neither suspends nor needs its actor, who may be in another call: it is carried out in
  /// destructors and handlers, too.
  bool anywhere = false;
};

/// A step's `what` is a common thing when below kCommonCount, else an operation of the subject; its
/// number is from 0 to 15, its `subject` a draw of how long it waits.
[[nodiscard]] constexpr bool is_common(const Step& step) noexcept {
  return step.what < kCommonCount;
}
/// Index among the subject's operations. REQUIRES: not common.
[[nodiscard]] constexpr std::size_t operation_of(const Step& step) noexcept {
  return step.what - kCommonCount;
}

struct Script {
  /// How the subject is made: four numbers from 0 to 7.
  std::array<std::uint8_t, 4> shape{};
  std::vector<Steps> actors;
  unsigned crowd = 0;  // A draw of the timers beside it.
};

/// Scripts of up to 12 steps for each actor; with many actors, now and then, there are fewer steps.
/// `operations` must outlive the generator.
[[nodiscard]] rc::Gen<Script> scripts(std::span<const Operation> operations);

/// A line for each actor.
[[nodiscard]] std::string to_text(const Script& script, std::span<const Operation> operations);

}  // namespace fermata::properties
