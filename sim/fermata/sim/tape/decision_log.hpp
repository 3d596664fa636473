// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a run has decided: the answers that were not calm, and how many there were of all.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fermata/sim/tape/decision.hpp"
#include "fermata/sim/tape/strategy.hpp"

namespace fermata::sim {

class DecisionLog {
 public:
  DecisionLog() = default;
  DecisionLog(const DecisionLog&) = delete;
  DecisionLog& operator=(const DecisionLog&) = delete;

  /// Null: nobody listens. Must outlive this, or be taken away.
  void set_listener(DecisionListener* listener) noexcept { listener_ = listener; }

  [[nodiscard]] DecisionListener* listener() const noexcept { return listener_; }

  /// Forgets the last run; another one begins.
  void begin();

  /// The answer to `draw` is `value`, and not calm. REQUIRES: draw.index == draws().
  void add(const Draw& draw, std::uint64_t value, Instant at);
  /// The answer to a pick with `draw` was calm, and could have been another one.
  void add_alternatives(const Draw& draw, const Candidates& candidates);
  /// The answer to a number that the program drew was calm, and could have been another one.
  void add_alternatives(const Draw& draw);

  /// A draw has been answered, calmly or not.
  void count_draw() noexcept { ++draws_; }
  void count_pick() noexcept {
    ++picks_;
    ++draws_;
  }

  /// The answers that were not calm, in the order in which they were given.
  [[nodiscard]] std::span<const Decision> recorded() const noexcept { return recorded_; }
  [[nodiscard]] std::uint64_t draws() const noexcept { return draws_; }
  [[nodiscard]] std::uint64_t picks() const noexcept { return picks_; }
  /// The decisions that could have taken the place of calm picks, and of calm numbers of the
  /// program; the first ones, in the order of the run, while names are wanted. Of a number with
  /// many values, a few.
  [[nodiscard]] const std::vector<Decision>& alternatives() const noexcept { return alternatives_; }
  static constexpr std::size_t kMostAlternatives = 20'000;

 private:
  void add_alternative(const Draw& draw, std::uint64_t value);

  DecisionListener* listener_ = nullptr;
  std::vector<Decision> recorded_;
  std::uint64_t draws_ = 0;
  std::uint64_t picks_ = 0;
  std::vector<Decision> alternatives_;
};

}  // namespace fermata::sim
