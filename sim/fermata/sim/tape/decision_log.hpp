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

/// A pick that could have been answered in several ways.
struct PickRecord {
  std::uint64_t index = 0;  // As Decision::index.
  std::uint32_t occurrence = 0;
  std::size_t chosen = 0;
  std::vector<std::uint64_t> candidates;  // Their paths, in production's order.
};

class DecisionLog {
 public:
  DecisionLog() = default;
  DecisionLog(const DecisionLog&) = delete;
  DecisionLog& operator=(const DecisionLog&) = delete;

  /// Null: nobody listens. Must outlive this, or be taken away.
  void set_listener(DecisionListener* listener) noexcept { listener_ = listener; }

  /// Forgets the last run; another one begins.
  void begin();

  /// The answer to `draw` is `value`, and not calm. REQUIRES: draw.index == draws().
  void add(const Draw& draw, std::uint64_t value, Instant at);
  /// The answer to a pick with `draw`, calm or not. REQUIRES: chosen is one of the candidates.
  void add_pick(const Draw& draw, std::size_t chosen, const Candidates& candidates);

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
  /// The first of the picks, calm ones included, while names are wanted.
  [[nodiscard]] const std::vector<PickRecord>& pick_records() const noexcept {
    return pick_records_;
  }
  static constexpr std::size_t kMostPickRecords = 10'000;

 private:
  DecisionListener* listener_ = nullptr;
  std::vector<Decision> recorded_;
  std::uint64_t draws_ = 0;
  std::uint64_t picks_ = 0;
  std::vector<PickRecord> pick_records_;
};

}  // namespace fermata::sim
