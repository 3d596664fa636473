// SPDX-License-Identifier: Apache-2.0
#pragma once

// What scripts are made of: steps, as plain data that RapidCheck makes and shrinks. Numbers mean
// what the player makes of them, modulo what there is, so that every list of steps is valid and
// stays valid when it is shrunk.

#include <rapidcheck.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace fermata::properties {

struct Step {
  constexpr Step() = default;
  template <class What>
  constexpr Step(What a_what, std::uint8_t a_subject, std::uint8_t a_number)
      : what(static_cast<std::uint8_t>(a_what)), subject(a_subject), number(a_number) {}

  std::uint8_t what = 0;
  std::uint8_t subject = 0;
  std::uint8_t number = 0;
};
using Steps = std::vector<Step>;

/// How often a thing is chosen among others.
struct Weight {
  template <class What>
  constexpr Weight(What a_what, std::uint8_t a_weight)
      : what(static_cast<std::size_t>(a_what)), weight(a_weight) {}

  std::size_t what;
  std::uint8_t weight;
};

class Weights {
 public:
  constexpr Weights() = default;
  constexpr Weights(std::initializer_list<Weight> weights) {
    for (const Weight& each : weights) set(each);
  }
  constexpr void set(const Weight& weight) { weights_[weight.what] = weight.weight; }

  /// The choice that a number below total() stands for; the first ones are simpler to a reader.
  [[nodiscard]] std::uint8_t choose(unsigned number) const;
  [[nodiscard]] unsigned total() const;

 private:
  std::array<std::uint8_t, 32> weights_{};
};

/// The steps that there are to choose from.
struct Vocabulary {
  Weights weights;
  unsigned subjects = 1;
  unsigned numbers = 1;

  /// How many steps there are, each counted as often as its weight says.
  [[nodiscard]] unsigned size() const { return weights.total() * subjects * numbers; }
  /// The one that a number below size() stands for.
  [[nodiscard]] Step step(unsigned number) const;
};

/// A number below `bound`. Smaller is simpler, and that is the way RapidCheck shrinks.
[[nodiscard]] rc::Gen<unsigned> number_below(unsigned bound);

/// A list of up to `most` steps, which shrinks by leaving things out.
[[nodiscard]] rc::Gen<Steps> steps(int most, const Vocabulary& vocabulary);

/// Between `least` and `most` of something.
template <class T>
rc::Gen<std::vector<T>> several(std::size_t least, std::size_t most, const rc::Gen<T>& one) {
  return rc::gen::mapcat(rc::gen::inRange<std::size_t>(least, most + 1), [one](std::size_t count) {
    return rc::gen::container<std::vector<T>>(count, one);
  });
}

}  // namespace fermata::properties
