// SPDX-License-Identifier: Apache-2.0
#pragma once

// Each candidate is as likely as any other. Finds what a few reorderings anywhere uncover; the odds
// of a bug that needs one coroutine to be held back for n picks fall with 2^-n.

#include "fermata/sim/strategy/seeded.hpp"

namespace fermata::sim {

class RandomStrategy final : public SeededStrategy {
 public:
  std::size_t pick(const Candidates& candidates) override {
    return static_cast<std::size_t>(schedule().below(candidates.size()));
  }

 private:
  [[nodiscard]] std::string order_name() const override { return "random"; }
};

}  // namespace fermata::sim
