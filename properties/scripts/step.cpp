// SPDX-License-Identifier: Apache-2.0
#include "properties/scripts/step.hpp"

#include <numeric>

namespace fermata::properties {

std::uint8_t Weights::choose(unsigned number) const {
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    if (number < weights_[i]) return static_cast<std::uint8_t>(i);
    number -= weights_[i];
  }
  return 0;
}

unsigned Weights::total() const { return std::accumulate(weights_.begin(), weights_.end(), 0U); }

Step Vocabulary::step(unsigned number) const {
  return Step(weights.choose(number / (subjects * numbers)),
              static_cast<std::uint8_t>(number / numbers % subjects),
              static_cast<std::uint8_t>(number % numbers));
}

rc::Gen<unsigned> number_below(unsigned bound) {
  constexpr int kSize = 100;
  return rc::gen::resize(kSize, rc::gen::inRange<unsigned>(0, bound));
}

rc::Gen<Steps> steps(int most, const Vocabulary& vocabulary) {
  // One number for all parts of a step.
  const rc::Gen<Step> one =
      rc::gen::map(number_below(vocabulary.size()),
                   [vocabulary](unsigned number) { return vocabulary.step(number); });
  return rc::gen::resize(most, rc::gen::container<Steps>(one));
}

}  // namespace fermata::properties
