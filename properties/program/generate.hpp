// SPDX-License-Identifier: Apache-2.0
#pragma once

// What RapidCheck makes programs from: a profile says how often each step occurs, so that a law
// gets programs that are about its subject.

#include <rapidcheck.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <utility>

#include "properties/program/program.hpp"

namespace fermata::properties {

/// How often one thing is chosen among others.
template <class T, int N>
class Weights {
 public:
  constexpr Weights(std::initializer_list<std::pair<T, std::uint8_t>> weights) {
    for (const auto& [what, weight] : weights) of(what) = weight;
  }
  [[nodiscard]] constexpr std::uint8_t& of(T what) {
    return weights_[static_cast<std::size_t>(what)];
  }
  /// The choice that a number below total() stands for; the first ones are simpler to a reader.
  [[nodiscard]] constexpr T choose(unsigned number) const {
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      if (number < weights_[i]) return static_cast<T>(i);
      number -= weights_[i];
    }
    return T{};
  }
  [[nodiscard]] constexpr unsigned total() const {
    unsigned sum = 0;
    for (const std::uint8_t weight : weights_) sum += weight;
    return sum;
  }

 private:
  std::array<std::uint8_t, N> weights_{};
};

using Ops = Weights<Op, kOpCount>;
using Subjects = Weights<Subject, kSubjectCount>;

struct Profile {
  Ops main;      // The main coroutine spawns and stirs.
  Ops body;      // What the spawned ones do.
  Ops callback;  // From inside callbacks, finally handlers and microtasks.
  Subjects events;
};

/// How many steps there are to choose from, each operation counted as often as its weight says.
[[nodiscard]] unsigned step_choices(const Ops& ops);
/// The one that a number below that stands for.
[[nodiscard]] Step step_of(const Ops& ops, unsigned number);

/// Programs of 3 to 10 bodies.
[[nodiscard]] rc::Gen<Program> programs(const Profile& profile);

/// The program that `seed` stands for, with all that is smaller; the same with every compiler.
[[nodiscard]] rc::Shrinkable<Program> shrinkable_program(const Profile& profile,
                                                         std::uint64_t seed);

}  // namespace fermata::properties
