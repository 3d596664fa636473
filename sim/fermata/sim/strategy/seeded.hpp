// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the strategies that draw from a seed share: the outside world varies uniformly, and places
// where something strikes are drawn from the courses of earlier runs.

#include <algorithm>
#include <string>

#include "fermata/base/assert.hpp"
#include "fermata/sim/strategy/courses.hpp"
#include "fermata/sim/tape/random.hpp"
#include "fermata/sim/tape/strategy.hpp"

namespace fermata::sim {

class SeededStrategy : public Strategy {
 public:
  [[nodiscard]] std::string name() const final { return order_name() + courses_.text(); }
  void begin_run(std::uint64_t seed) override { generators_.reset(seed); }
  void end_run(const RunSummary& run) final {
    learn(run);
    courses_.learn(run.courses);
  }
  /// Learns courses as end_run() does.
  void learn_courses(std::span<const Course> courses) {
    FERMATA_ASSERT(!courses.empty());
    courses_.learn(courses);
  }

  std::uint64_t draw(backend::RandomStream stream, std::uint64_t /*key*/,
                     std::uint64_t bound) override {
    Random& random = generators_[stream];
    return bound == 0 ? random.next() : random.below(bound);
  }

  std::uint64_t draw_rarely(backend::RandomStream stream, std::uint64_t /*key*/,
                            std::uint64_t bound, Odds odds) override {
    FERMATA_ASSERT(bound > 1);
    Random& random = generators_[stream];
    if (random.below(odds.denominator) >= odds.numerator) return 0;
    return 1 + random.below(bound - 1);
  }

  std::uint64_t draw_place(backend::RandomStream stream, std::uint64_t /*key*/,
                           std::uint64_t subject, std::uint64_t bound, Odds odds) override {
    FERMATA_ASSERT(bound > 1);
    Random& random = generators_[stream];
    if (random.below(odds.denominator) >= odds.numerator) return 0;
    const std::uint64_t known = courses_.length_of(subject);
    const std::uint64_t places = known != 0 ? known : std::uint64_t{1} << random.below(kGuesses);
    return 1 + random.below(std::min(places, bound - 1));
  }

 protected:
  /// The name of how coroutines are ordered, with what was learnt for that.
  [[nodiscard]] virtual std::string order_name() const = 0;
  /// Learns from a run, for later orders.
  virtual void learn(const RunSummary& run) { static_cast<void>(run); }
  [[nodiscard]] Random& schedule() noexcept { return generators_[backend::RandomStream::Schedule]; }

 private:
  static constexpr std::uint64_t kGuesses = 10;  // Of a length: each twice the one before.

  StreamGenerators generators_{0};
  Courses courses_;
};

}  // namespace fermata::sim
