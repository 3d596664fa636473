// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/tape/answer_source.hpp"

#include <algorithm>
#include <limits>

namespace fermata::sim {

void AnswerSource::begin(std::uint64_t seed) {
  replay_ = nullptr;
  begin_strategy(seed);
}

void AnswerSource::begin(Replay& replay) {
  replay_ = &replay;
  replayed_draws_ = std::numeric_limits<std::uint64_t>::max();
  wants_steps_ = false;
  courses_.clear();
}

void AnswerSource::begin(Replay& replay, std::uint64_t draws, std::uint64_t seed) {
  begin(replay);
  replayed_draws_ = draws;
  begin_strategy(seed);
}

void AnswerSource::begin_strategy(std::uint64_t seed) {
  courses_.clear();
  strategy_.begin_run(seed);
  wants_steps_ = strategy_.news() != StepNews::None;
}

void AnswerSource::end(std::uint64_t draws, std::uint64_t picks, bool is_new, bool failed) {
  FERMATA_ASSERT(picks <= draws);
  if (replay_ != nullptr) {
    replay_->finish(draws);
  } else {
    strategy_.end_run(
        RunSummary{.picks = picks, .is_new = is_new, .failed = failed, .courses = courses_});
  }
}

void AnswerSource::came(const Course& course) {
  const bool known = std::any_of(courses_.begin(), courses_.end(), [&](const Course& each) {
    return each.subject == course.subject;
  });
  if (!known) courses_.push_back(course);
}

}  // namespace fermata::sim
