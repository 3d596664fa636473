// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/tape/decisions.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace fermata::sim {
namespace {

constexpr std::uint64_t kSpawn = key_of("spawn");

}  // namespace

void Decisions::begin(std::uint64_t seed) {
  reset();
  replay_ = nullptr;
  begin_strategy(seed);
}

void Decisions::begin_strategy(std::uint64_t seed) {
  strategy_->begin_run(seed);
  wants_steps_ = strategy_->news() != StepNews::None;
  wants_uses_ = strategy_->news() == StepNews::Footprints;
}

void Decisions::begin_replay(Replay& replay) {
  reset();
  replay_ = &replay;
  replayed_draws_ = std::numeric_limits<std::uint64_t>::max();
  replay.rewind(names_, whereabouts_);
}

void Decisions::begin_replay(Replay& replay, std::uint64_t draws, std::uint64_t seed) {
  begin_replay(replay);
  replayed_draws_ = draws;
  begin_strategy(seed);
}

void Decisions::end(bool is_new, bool failed) {
  if (replay_ != nullptr) {
    replay_->finish(draws_);
  } else {
    strategy_->end_run(RunSummary{picks_, is_new, failed, courses_});
  }
}

void Decisions::reset() {
  occurrences_.clear();
  recorded_.clear();
  draws_ = 0;
  picks_ = 0;
  courses_.clear();
  wants_steps_ = false;
  wants_uses_ = false;
  names_.clear();
  pick_records_.clear();
  origins_.clear();
  children_.clear();
  if (listener_ != nullptr) listener_->began();
}

std::size_t Decisions::pick(const Candidates& candidates) {
  const std::uint64_t head = candidates.path(0);
  const std::uint64_t topic = topic_of_pick(head);
  const std::uint32_t occurrence = occurrences_.next(topic);
  const auto question = [&] {
    return Question{Stream::Schedule, key_of(topic, occurrence), candidates.size(), head,
                    occurrence};
  };
  ++picks_;
  const std::size_t chosen =
      replaying() ? replayed_pick(question(), candidates) : strategy_->pick(candidates);
  if (chosen != 0) record(question(), candidates.path(chosen), true);
  if (naming_) [[unlikely]] {
    keep_pick(occurrence, chosen, candidates);
  }
  ++draws_;
  return chosen;
}

std::uint64_t Decisions::draw(Stream stream, std::uint64_t key, std::uint64_t bound) {
  if (naming_ && stream == Stream::Workload && whereabouts_ != nullptr) [[unlikely]] {
    name(key, "random() in " + whereabouts_->coroutine());
  }
  const Question question = ask(stream, key, bound);
  if (replaying()) {
    const Decision* decision = replay_->answer(as_draw(question));
    return answered(question, decision != nullptr ? decision->value : 0);
  }
  return answered(question, strategy_->draw(stream, question.key, bound));
}

std::uint64_t Decisions::draw_rarely(Stream stream, std::uint64_t key, std::uint64_t bound,
                                     Odds odds) {
  if (replaying()) return draw(stream, key, bound);
  const Question question = ask(stream, key, bound);
  return answered(question, strategy_->draw_rarely(stream, question.key, bound, odds));
}

std::uint64_t Decisions::draw_place(Stream stream, std::uint64_t key, std::uint64_t subject,
                                    Odds odds) {
  if (replaying()) return draw(stream, key, kPlaces);
  const Question question = ask(stream, key, kPlaces);
  return answered(question, strategy_->draw_place(stream, question.key, subject, kPlaces, odds));
}

void Decisions::came(const Course& course) {
  const bool known = std::any_of(courses_.begin(), courses_.end(), [&](const Course& each) {
    return each.subject == course.subject;
  });
  if (!known) courses_.push_back(course);
}

std::uint64_t Decisions::spawn_path(std::uint64_t parent, std::string_view name) {
  const std::uint64_t key = key_of(key_of(kSpawn, parent), name);
  const std::uint32_t occurrence = occurrences_.next(key);
  const std::uint64_t path = key_of(key, occurrence);
  if (wants_steps_) strategy_->spawned(parent, path);
  if (naming_) [[unlikely]] {
    keep_origin(path, parent, name, occurrence);
  }
  return path;
}

void Decisions::keep_pick(std::uint32_t occurrence, std::size_t chosen,
                          const Candidates& candidates) {
  if (pick_records_.size() == kMostPickRecords) return;
  PickRecord& pick = pick_records_.emplace_back(PickRecord{draws_, occurrence, chosen, {}});
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    pick.candidates.push_back(candidates.path(i));
  }
}

void Decisions::keep_origin(std::uint64_t path, std::uint64_t parent, std::string_view name,
                            std::uint32_t occurrence) {
  std::string text(name.empty() ? "coroutine" : name);
  if (occurrence > 0) text += " #" + std::to_string(occurrence + 1);
  this->name(path, std::move(text));
  origins_.insert_or_assign(path, Origin{parent, children_[parent]++});
}

void Decisions::name(std::uint64_t key, std::string text) {
  names_.insert_or_assign(key, std::move(text));
}

Decisions::Question Decisions::ask(Stream stream, std::uint64_t subject, std::uint64_t bound) {
  const std::uint64_t topic = topic_of_draw(stream, subject);
  const std::uint32_t occurrence = occurrences_.next(topic);
  return Question{stream, key_of(topic, occurrence), bound, subject, occurrence};
}

void Decisions::record(const Question& question, std::uint64_t value, bool is_pick) {
  recorded_.push_back(Decision{.index = draws_,
                               .key = question.key,
                               .bound = question.bound,
                               .value = value,
                               .subject = question.subject,
                               .occurrence = question.occurrence,
                               .at = whereabouts_ != nullptr ? whereabouts_->now() : Instant{},
                               .stream = question.stream,
                               .is_pick = is_pick});
  if (listener_ != nullptr) [[unlikely]] {
    listener_->decided(recorded_.back());
  }
}

Draw Decisions::as_draw(const Question& question) const noexcept {
  return Draw{.index = draws_,
              .key = question.key,
              .bound = question.bound,
              .subject = question.subject,
              .stream = question.stream};
}

std::size_t Decisions::replayed_pick(const Question& question, const Candidates& candidates) {
  Draw draw = as_draw(question);
  draw.is_pick = true;
  const Decision* decision = replay_->answer(draw);
  if (decision == nullptr) return wished_pick(candidates);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (candidates.path(i) == decision->value) return i;
  }
  replay_->reject(*decision, draw);
  return 0;
}

std::size_t Decisions::wished_pick(const Candidates& candidates) {
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    if (replay_->wishes_for(candidates.path(i))) return i;
  }
  return 0;
}

}  // namespace fermata::sim
