// SPDX-License-Identifier: Apache-2.0
#pragma once

// A generated program over one primitive: 2 to 8 actors, each with a list of steps, as plain data
// that RapidCheck makes and shrinks. Numbers mean what the subject makes of them, modulo what there
// is, so that every script is valid and stays valid when it is shrunk.

#include <rapidcheck.h>

#include <array>
#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fermata::properties::scripts {

/// What every actor can do, whatever the subject.
enum class Common : std::uint8_t {
  Pause,   // lets the others go first
  Nap,     // number: milliseconds
  Cancel,  // number: an actor
  Throw,   // ends the actor with an error
  Fire,    // fires the token that patient waits share; later ones get a new one
};
inline constexpr std::uint8_t kCommonCount = 5;

/// Something that actors do with the subject; how often, where common things weigh 10 together.
struct Operation {
  std::string_view name;
  std::uint8_t weight;
};

/// A common thing when below kCommonCount, else an operation of the subject.
struct Step {
  std::uint8_t what = 0;
  std::uint8_t number = 0;  // 0 to 15

  [[nodiscard]] bool is_common() const noexcept { return what < kCommonCount; }
  /// Index among the subject's operations. REQUIRES: not common.
  [[nodiscard]] std::size_t operation() const noexcept { return what - kCommonCount; }
};

struct Script {
  /// How the subject is made: four numbers from 0 to 7.
  std::array<std::uint8_t, 4> shape{};
  std::vector<std::vector<Step>> actors;
};

/// Scripts of up to 12 steps for each actor. `operations` must outlive the generator.
[[nodiscard]] rc::Gen<Script> scripts(std::span<const Operation> operations);

/// The script that `seed` stands for, with all that is smaller; the same with every compiler.
[[nodiscard]] rc::Shrinkable<Script> shrinkable_script(std::span<const Operation> operations,
                                                       std::uint64_t seed);

/// A line for each actor.
[[nodiscard]] std::string to_text(const Script& script, std::span<const Operation> operations);

}  // namespace fermata::properties::scripts
