// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who answers the draws of a run: a strategy, or a tape that is replayed, or the tape first and
// then the strategy.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/sim/tape/replay.hpp"
#include "fermata/sim/tape/strategy.hpp"

namespace fermata::sim {

class AnswerSource {
 public:
  /// The strategy must outlive this.
  explicit AnswerSource(Strategy& strategy) noexcept : strategy_(strategy) {}
  AnswerSource(const AnswerSource&) = delete;
  AnswerSource& operator=(const AnswerSource&) = delete;

  /// A run begins that the strategy answers.
  void begin(std::uint64_t seed);
  /// A run begins that `replay` answers, which must outlive it.
  void begin(Replay& replay);
  /// A run begins whose first `draws` draws `replay` answers, and the strategy all others.
  void begin(Replay& replay, std::uint64_t draws, std::uint64_t seed);
  /// The run is over after so many draws, as Decisions::end has it.
  void end(std::uint64_t draws, std::uint64_t picks, bool is_new, bool failed);

  /// The tape that answers when the run has made `draws` draws; null: the strategy does.
  [[nodiscard]] Replay* replay(std::uint64_t draws) noexcept {
    if (replay_ == nullptr) return nullptr;
    if (draws >= replayed_draws_) [[unlikely]] {
      replay_ = nullptr;
    }
    return replay_;
  }
  /// The tape that has answered so far; null: the strategy does.
  [[nodiscard]] Replay* replaying() const noexcept { return replay_; }
  /// Only when no tape answers.
  [[nodiscard]] Strategy& strategy() noexcept {
    FERMATA_ASSERT(replay_ == nullptr);
    return strategy_;
  }

  /// The strategy, when it is to be told of the steps of this run; null: none is.
  [[nodiscard]] Strategy* told_of_steps() const noexcept {
    return wants_steps_ ? &strategy_ : nullptr;
  }

  /// Notes how far a subject came; see Decisions::came.
  void came(const Course& course);

 private:
  void begin_strategy(std::uint64_t seed);

  Strategy& strategy_;
  Replay* replay_ = nullptr;
  std::uint64_t replayed_draws_ = 0;
  bool wants_steps_ = false;
  std::vector<Course> courses_;  // One of each subject.
};

}  // namespace fermata::sim
