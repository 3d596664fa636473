// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the strategies that draw from a seed share: the outside world varies uniformly.

#include "fermata/sim/strategy/strategy.hpp"
#include "fermata/sim/tape/random.hpp"

namespace fermata::sim {

class SeededStrategy : public Strategy {
 public:
  void begin_run(std::uint64_t seed) override { generators_.reset(seed); }

  std::uint64_t draw(Stream stream, std::uint64_t /*key*/, std::uint64_t bound) override {
    Random& random = generators_[stream];
    return bound == 0 ? random.next() : random.below(bound);
  }

  std::uint64_t draw_rarely(Stream stream, std::uint64_t /*key*/, std::uint64_t bound,
                            Odds odds) override {
    Random& random = generators_[stream];
    if (random.below(odds.denominator) >= odds.numerator) return 0;
    return 1 + random.below(bound - 1);
  }

 protected:
  [[nodiscard]] Random& schedule() noexcept { return generators_[Stream::Schedule]; }

 private:
  StreamGenerators generators_{0};
};

}  // namespace fermata::sim
