// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/shrinker.hpp"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <utility>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/sim/run/in_process_trials.hpp"
#include "fermata/sim/tape/random.hpp"

namespace fermata::sim {
namespace {

using DecisionList = std::vector<Decision>;

class Shrinker {
 public:
  Shrinker(Trials& trials, const Program& program, const Tape& tape, const ShrinkLimits& limits)
      : trials_(trials), program_(program), limits_(limits), tape_(tape) {}

  /// Whether the failure is there at all when the decisions are applied by key.
  bool begin() { return fails(tape_.decisions, tape_.rapidcheck); }

  void shrink() {
    do {
      drop_streams();
      drop_parts();
      lower_values();
      drop_single_ones();
    } while (take_smaller_arguments());
    while (merge_picks()) drop_single_ones();
    postpone_picks();
    drop_single_ones();
  }

  /// What is left; `before` is the tape it began with. Not looked at closely yet.
  [[nodiscard]] Shrunk result(const Tape& before) && {
    Shrunk shrunk;
    shrunk.found.tape = std::move(tape_);
    shrunk.decisions_before = before.decisions.size();
    shrunk.smaller_arguments = smaller_arguments_;
    shrunk.runs = runs_;
    shrunk.minimal = !spent_ && !trials_.ran_out_of_time();
    FERMATA_ASSERT(shrunk.found.tape.decisions.size() <= before.decisions.size());
    return shrunk;
  }

 private:
  /// Whether a run with these decisions fails in the same way; then it is the one to go on with.
  bool fails(const DecisionList& decisions, const std::string& rapidcheck) {
    if (!has_room()) return false;
    const bool failed = trials_.fails(decisions, rapidcheck);
    ++runs_;
    steps_ += trials_.steps();
    if (!failed) return false;
    runs_at_gain_ = runs_;
    FERMATA_ASSERT(steps_at_gain_ <= steps_);
    steps_at_gain_ = steps_;
    tape_.decisions = trials_.decisions();
    tape_.rapidcheck = rapidcheck;
    return true;
  }

  /// For another run.
  bool has_room() noexcept {
    spent_ = spent_ || runs_ - runs_at_gain_ >= limits_.runs_in_vain ||
             steps_ - steps_at_gain_ >= limits_.steps_in_vain || steps_ >= limits_.steps;
    return !spent_;
  }

  bool fails_without(std::size_t begin, std::size_t end) {
    FERMATA_ASSERT(begin < end);
    FERMATA_ASSERT(end <= tape_.decisions.size());
    DecisionList rest = tape_.decisions;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(begin),
               rest.begin() + static_cast<std::ptrdiff_t>(end));
    if (fails(rest, tape_.rapidcheck)) return true;
    DecisionList sooner = rest;
    if (move_up(sooner, begin, end) && fails(sooner, tape_.rapidcheck)) return true;
    return drops_draw(begin, end) && fails_met_sooner(rest, begin);
  }

  [[nodiscard]] bool drops_draw(std::size_t begin, std::size_t end) const {
    const auto first = tape_.decisions.begin();
    return std::any_of(first + static_cast<std::ptrdiff_t>(begin),
                       first + static_cast<std::ptrdiff_t>(end),
                       [](const Decision& each) { return !each.is_pick; });
  }

  /// Without a crash what a machine meets in its second life can meet it in its first; without a
  /// short write what becomes of the second piece can become of the whole. Each later draw that is
  /// not the first on its topic comes one earlier: all of them, or all but those on one topic.
  bool fails_met_sooner(const DecisionList& rest, std::size_t begin) {
    FERMATA_ASSERT(begin <= rest.size());
    constexpr std::size_t kMostTopics = 4;
    std::vector<std::uint64_t> kept = {0};  // No topic's key.
    for (std::size_t i = begin; i < rest.size(); ++i) {
      const std::uint64_t topic = topic_of(rest[i]);
      const bool known = std::find(kept.begin(), kept.end(), topic) != kept.end();
      if (!rest[i].is_pick && rest[i].occurrence > 0 && !known) kept.push_back(topic);
    }
    if (kept.size() == 1 || kept.size() > 1 + kMostTopics) return false;
    return std::any_of(kept.begin(), kept.end(), [&](std::uint64_t topic) {
      return fails(met_sooner(rest, begin, topic), tape_.rapidcheck);
    });
  }

  static DecisionList met_sooner(DecisionList rest, std::size_t begin, std::uint64_t kept) {
    FERMATA_ASSERT(begin < rest.size());
    for (std::size_t i = begin; i < rest.size(); ++i) {
      Decision& each = rest[i];
      if (each.is_pick || each.occurrence == 0 || topic_of(each) == kept) continue;
      each.key = key_of(topic_of(each), --each.occurrence);
    }
    return rest;
  }

  /// Without the picks from `begin` to `end` the same coroutine is first less often, so that the
  /// later ones on the same topic come earlier. Returns whether there are any.
  bool move_up(DecisionList& rest, std::size_t begin, std::size_t end) const {
    bool any = false;
    for (std::size_t i = begin; i < rest.size(); ++i) {
      const std::uint64_t topic = topic_of(rest[i]);
      const auto gone = std::count_if(
          tape_.decisions.begin() + static_cast<std::ptrdiff_t>(begin),
          tape_.decisions.begin() + static_cast<std::ptrdiff_t>(end),
          [&](const Decision& each) { return each.is_pick && topic_of(each) == topic; });
      if (gone == 0) continue;
      rest[i].occurrence -= std::min(rest[i].occurrence, static_cast<std::uint32_t>(gone));
      rest[i].key = key_of(topic, rest[i].occurrence);
      any = true;
    }
    return any;
  }

  void drop_streams() {
    for (std::size_t i = kStreams; i-- > 0;) {
      DecisionList rest = tape_.decisions;
      std::erase_if(rest, [&](const Decision& d) { return d.stream == static_cast<Stream>(i); });
      if (rest.size() < tape_.decisions.size()) fails(rest, tape_.rapidcheck);
    }
  }

  void drop_parts() {
    for (std::size_t size = tape_.decisions.size() / 2; size > 1; size /= 2) drop_each(size);
  }

  void drop_single_ones() {
    while (drop_each(1)) {
    }
  }

  /// Tries to drop each part of `size` decisions, from the last one on. Returns whether any went.
  bool drop_each(std::size_t size) {
    FERMATA_ASSERT(size > 0);
    bool any = false;
    for (std::size_t end = tape_.decisions.size(); end > 0 && !spent_;) {
      const std::size_t begin = end - std::min(size, end);
      const bool gone = fails_without(begin, end);
      any = any || gone;
      end = std::min(begin, tape_.decisions.size());
    }
    return any;
  }

  void lower_values() {
    for (std::size_t i = 0; i < tape_.decisions.size() && !spent_; ++i) lower_value(i);
  }

  /// Half-way down again and again, until it must stay as it is.
  void lower_value(std::size_t i) {
    std::uint64_t too_low = 0;
    while (i < tape_.decisions.size() && !tape_.decisions[i].is_pick &&
           tape_.decisions[i].value > too_low + 1) {
      DecisionList lower = tape_.decisions;
      const bool first = too_low == 0;
      const std::uint64_t value = first ? 1 : too_low + (lower[i].value - too_low) / 2;
      FERMATA_ASSERT(value < lower[i].value);
      lower[i].value = value;
      if (!fails(lower, tape_.rapidcheck)) too_low = value;
      if (spent_) return;
    }
  }

  bool take_smaller_arguments() {
    if (!program_.smaller_arguments) return false;
    bool any = false;
    for (bool again = true; again && !spent_;) {
      again = false;
      for (const std::string& smaller : program_.smaller_arguments(tape_.rapidcheck)) {
        if (!fails(tape_.decisions, smaller)) continue;
        ++smaller_arguments_;
        any = again = true;
        break;
      }
    }
    return any;
  }

  // --- picks that do the same as others ---

  /// Replaces two picks by one. Returns whether that was possible anywhere.
  bool merge_picks() {
    for (std::size_t i = 0; i < tape_.decisions.size(); ++i) {
      for (std::size_t j = i + 1; j < tape_.decisions.size() && !spent_; ++j) {
        const bool picks = tape_.decisions[i].is_pick && tape_.decisions[j].is_pick;
        if (picks && replace({i, j}, 0)) return true;
      }
    }
    return false;
  }

  void postpone_picks() {
    for (std::size_t i = tape_.decisions.size(); i-- > 0 && !spent_;) {
      if (i < tape_.decisions.size() && tape_.decisions[i].is_pick) {
        replace({i}, tape_.decisions[i].index + 1);
      }
    }
  }

  /// Takes one pick, the last that will do and not before draw number `from`, instead of the
  /// decisions `which`. Returns whether one will do.
  bool replace(std::initializer_list<std::size_t> which, std::uint64_t from) {
    FERMATA_ASSERT(which.size() > 0);
    constexpr std::uint64_t kMostTries = 120;
    if (!has_room()) return false;
    DecisionList rest = tape_.decisions;
    for (auto at = std::rbegin(which); at != std::rend(which); ++at) {
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(*at));
    }
    const std::vector<PickRecord> picks = picks_of(rest);
    std::uint64_t tries = 0;
    for (auto pick = picks.rbegin(); pick != picks.rend() && pick->index >= from; ++pick) {
      if (pick->chosen != 0) continue;
      for (std::size_t other = 1; other < pick->candidates.size(); ++other) {
        if (++tries > kMostTries || spent_) return false;
        if (fails(with_pick(rest, *pick, other), tape_.rapidcheck)) return true;
      }
    }
    return false;
  }

  /// Of a run with these decisions, which need not fail.
  std::vector<PickRecord> picks_of(const DecisionList& decisions) {
    std::vector<PickRecord> picks = trials_.picks(decisions, tape_.rapidcheck);
    ++runs_;
    steps_ += trials_.steps();
    return picks;
  }

  static DecisionList with_pick(DecisionList decisions, const PickRecord& pick,
                                std::size_t candidate) {
    FERMATA_ASSERT(candidate > 0);
    FERMATA_ASSERT(candidate < pick.candidates.size());
    Decision decision;
    decision.is_pick = true;
    decision.index = pick.index;
    decision.subject = pick.candidates.front();
    decision.occurrence = pick.occurrence;
    decision.bound = pick.candidates.size();
    decision.value = pick.candidates[candidate];
    decision.key = key_of(topic_of(decision), decision.occurrence);
    decisions.push_back(decision);
    return decisions;
  }

  Trials& trials_;
  const Program& program_;
  ShrinkLimits limits_;
  Tape tape_;
  std::uint64_t runs_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t runs_at_gain_ = 0;
  std::uint64_t steps_at_gain_ = 0;
  std::size_t smaller_arguments_ = 0;
  bool spent_ = false;
};

}  // namespace

ShrinkAttempt shrink(Trials& trials, const Program& program, const Tape& tape,
                     const ShrinkLimits& limits) {
  if (!trials.comes_back_each_time()) {
    return {{}, "its decisions, applied by key, do not lead there every time"};
  }
  Shrinker shrinker(trials, program, tape, limits);
  if (!shrinker.begin()) return {{}, "there was no time for it"};
  shrinker.shrink();
  Shrunk shrunk = std::move(shrinker).result(tape);
  std::optional<FoundFailure> found = trials.look_closely(shrunk.found.tape);
  if (!found) return {{}, "what is left takes long, and comes to its end"};
  shrunk.found = std::move(*found);
  shrunk.cost = trials.cost();
  return {std::move(shrunk), {}};
}

std::optional<Shrunk> shrink(const Program& program, const WorldOptions& options, const Tape& tape,
                             const ShrinkLimits& limits) {
  InProcessTrials trials(program, options, tape);
  return shrink(trials, program, tape, limits).shrunk;
}

}  // namespace fermata::sim
