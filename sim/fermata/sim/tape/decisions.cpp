// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/tape/decisions.hpp"

#include <fmt/format.h>

#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/inlining.hpp"
#include "fermata/sim/base/amount.hpp"

namespace fermata::sim {
namespace {

constexpr std::uint64_t kSpawn = key_of("spawn");

std::string sentence_of(const backend::ProgramDraw& draw, const Decision& decision,
                        std::string_view who) {
  if (draw.what == backend::ProgramDraw::What::Tie) {
    return fmt::format("of {} callbacks that are due at once the {} is called first",
                       decision.bound, ordinal(decision.value + 1));
  }
  std::string text = "random()";
  if (!who.empty()) text += fmt::format(" in '{}'", who);
  text += fmt::format(" gives {}", decision.value);
  if (decision.bound != 0) text += fmt::format(" of {}", decision.bound);
  if (draw.place.line != 0) text += fmt::format(" ({})", draw.place.in_short());
  return text;
}

}  // namespace

void Decisions::begin(std::uint64_t seed) {
  forget();
  source_.begin(seed);
}

void Decisions::begin_replay(Replay& replay) {
  forget();
  source_.begin(replay);
  replay.rewind(names_.all(), whereabouts_);
}

void Decisions::begin_replay(Replay& replay, std::uint64_t draws, std::uint64_t seed) {
  forget();
  source_.begin(replay, draws, seed);
  replay.rewind(names_.all(), whereabouts_);
}

void Decisions::end(bool is_new, bool failed) {
  source_.end(log_.draws(), log_.picks(), is_new, failed);
}

void Decisions::forget() {
  occurrences_.clear();
  names_.clear();
  last_told_ = 0;
  log_.begin();
}

std::size_t Decisions::pick(const Candidates& candidates) {
  FERMATA_ASSERT(candidates.size() > 1);
  const std::uint64_t topic = topic_of_pick(candidates.path(0));
  const std::uint32_t occurrence = occurrences_.next(topic);
  const auto draw = [&] { return ask(candidates, topic, occurrence); };
  Replay* const replay = source_.replay(log_.draws());
  const std::size_t chosen =
      replay != nullptr ? replay->pick(draw(), candidates) : source_.strategy().pick(candidates);
  FERMATA_ASSERT(chosen < candidates.size());
  if (chosen != 0) {
    record(draw(), candidates.path(chosen));
  } else if (names_.wanted()) [[unlikely]] {
    log_.add_alternatives(draw(), candidates);
  }
  log_.count_pick();
  return chosen;
}

std::uint64_t Decisions::draw(const backend::ProgramDraw& draw) {
  return told(
      answer(backend::RandomStream::Workload, draw.key, draw.bound), [&](const Decision& decision) {
        return sentence_of(draw, decision,
                           whereabouts_ != nullptr ? whereabouts_->coroutine() : std::string());
      });
}

std::uint64_t Decisions::answer(backend::RandomStream stream, std::uint64_t key,
                                std::uint64_t bound) {
  const Draw draw = ask(stream, key, bound);
  Replay* const replay = source_.replay(log_.draws());
  const std::uint64_t value =
      replay != nullptr ? replay->answer(draw) : source_.strategy().draw(stream, draw.key, bound);
  if (stream == backend::RandomStream::Workload && value == 0 && names_.wanted()) [[unlikely]] {
    log_.add_alternatives(draw);
  }
  return answered(draw, value);
}

std::uint64_t Decisions::answer_rarely(backend::RandomStream stream, std::uint64_t key,
                                       std::uint64_t bound, Odds odds) {
  FERMATA_ASSERT(bound > 1);
  FERMATA_ASSERT(odds.denominator > 0);
  if (source_.replay(log_.draws()) != nullptr) return answer(stream, key, bound);
  const Draw draw = ask(stream, key, bound);
  return answered(draw, source_.strategy().draw_rarely(stream, draw.key, bound, odds));
}

std::uint64_t Decisions::answer_place(backend::RandomStream stream, std::uint64_t key,
                                      std::uint64_t subject, Odds odds) {
  FERMATA_ASSERT(odds.denominator > 0);
  if (source_.replay(log_.draws()) != nullptr) return answer(stream, key, kPlaces);
  const Draw draw = ask(stream, key, kPlaces);
  return answered(draw, source_.strategy().draw_place(stream, draw.key, subject, kPlaces, odds));
}

std::uint64_t Decisions::spawn_path(std::uint64_t parent, std::string_view name) {
  const std::uint64_t key = key_of(key_of(kSpawn, parent), name);
  const std::uint32_t occurrence = occurrences_.next(key);
  const std::uint64_t path = key_of(key, occurrence);
  if (Strategy* const told = source_.told_of_steps()) told->spawned(parent, path);
  names_.add_coroutine(path, parent, name);
  return path;
}

Draw Decisions::ask(backend::RandomStream stream, std::uint64_t subject, std::uint64_t bound) {
  const std::uint64_t topic = topic_of_draw(stream, subject);
  const std::uint32_t occurrence = occurrences_.next(topic);
  return Draw{.index = log_.draws(),
              .key = key_of(topic, occurrence),
              .bound = bound,
              .subject = subject,
              .occurrence = occurrence,
              .stream = stream};
}

Draw Decisions::ask(const Candidates& candidates, std::uint64_t topic,
                    std::uint32_t occurrence) const noexcept {
  return Draw{.index = log_.draws(),
              .key = key_of(topic, occurrence),
              .bound = candidates.size(),
              .subject = candidates.path(0),
              .occurrence = occurrence,
              .stream = backend::RandomStream::Schedule,
              .is_pick = true};
}

FERMATA_HOT std::uint64_t Decisions::answered(const Draw& draw, std::uint64_t value) {
  FERMATA_ASSERT(draw.bound == 0 || value < draw.bound);
  if (value != 0) record(draw, value);
  log_.count_draw();
  return value;
}

void Decisions::tell(std::uint64_t value,
                     const std::function<std::string(const Decision&)>& teller) {
  last_told_ = 0;
  if (value != 0) {
    const Decision& decision = log_.recorded().back();
    FERMATA_ASSERT(decision.value == value);
    last_told_ = decision.key;
    set_sentence(last_told_, teller(decision));
  }
  Replay* const replay = source_.replaying();
  if (replay == nullptr || !replay->open_question()) return;
  const Draw& question = *replay->open_question();
  replay->explain_question(teller({.key = question.key,
                                   .bound = question.bound,
                                   .value = 1,
                                   .subject = question.subject,
                                   .occurrence = question.occurrence,
                                   .stream = question.stream}));
}

void Decisions::set_sentence(std::uint64_t key, std::string sentence) {
  FERMATA_ASSERT(key != 0);
  if (log_.listener() != nullptr) log_.listener()->told(key, sentence);
  names_.set_sentence(key, std::move(sentence));
}

std::string Decisions::last_sentence() const {
  if (last_told_ == 0) return {};
  const auto found = names_.all().find(last_told_);
  FERMATA_ASSERT(found != names_.all().end());
  return found->second;
}

void Decisions::record(const Draw& draw, std::uint64_t value) {
  log_.add(draw, value, whereabouts_ != nullptr ? whereabouts_->now() : Instant{});
}

}  // namespace fermata::sim
