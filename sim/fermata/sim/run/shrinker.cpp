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
    drop_world();
    do {
      drop_streams();
      drop_parts();
      lower_values();
      drop_single_ones();
    } while (take_smaller_arguments());
    while (move_strikes() || replace_world() || merge_picks() || drop_pair()) drop_single_ones();
    postpone_picks();
    drop_single_ones();
  }

  /// What is left; `before` is the tape it began with. Not looked at closely yet.
  [[nodiscard]] Shrunk result(const Tape& before) && {
    Shrunk shrunk;
    shrunk.found.tape = std::move(tape_);
    shrunk.decisions_before = count_shown(before);
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
    const std::size_t before = tape_.decisions.size();
    tape_.decisions = trials_.decisions();
    const std::size_t after = tape_.decisions.size();
    FERMATA_ASSERT(steps_allowed_ >= limits_.steps);
    if (after < before) steps_allowed_ += limits_.steps / before * (before - after);
    tape_.rapidcheck = rapidcheck;
    return true;
  }

  /// For another run.
  bool has_room() noexcept {
    spent_ = spent_ || runs_ - runs_at_gain_ >= limits_.runs_in_vain ||
             steps_ - steps_at_gain_ >= limits_.steps_in_vain || steps_ >= steps_allowed_;
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

  /// Whether the decision is not a pick and not the program's own: a fault, or how long something
  /// takes.
  [[nodiscard]] static bool is_of_world(const Decision& decision) {
    return !decision.is_pick && decision.stream != backend::RandomStream::Workload;
  }

  /// No fault, and everything as calm as can be: often the picks are enough.
  void drop_world() {
    FERMATA_ASSERT(runs_ > 0);
    DecisionList rest = tape_.decisions;
    if (std::erase_if(rest, is_of_world) > 0) fails(rest, tape_.rapidcheck);
  }

  void drop_streams() {
    for (std::size_t i = kStreams; i-- > 0;) {
      DecisionList rest = tape_.decisions;
      std::erase_if(rest, [&](const Decision& d) {
        return d.stream == static_cast<backend::RandomStream>(i);
      });
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

  /// Two decisions that can only go together. Returns whether there were any.
  bool drop_pair() {
    constexpr std::size_t kMost = 16;  // More would be many pairs.
    const std::size_t count = tape_.decisions.size();
    if (count > kMost) return false;
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = i + 1; j < count && !spent_; ++j) {
        if (fails(without({i, j}), tape_.rapidcheck)) return true;
      }
    }
    return false;
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

  // --- strikes that need not wait for others ---

  /// Where a machine crashes is drawn as the number of a wait, so that every latency before it
  /// moves the crash. Drops such latencies and has the crash strike at another wait instead, the
  /// last one first. Returns whether that was possible anywhere.
  bool move_strikes() {
    if (!has_room()) return false;
    allow_moves();
    for (std::size_t i = tape_.decisions.size(); i-- > 0;) {
      if (!is_strike(tape_.decisions[i])) continue;
      if (drop_before_strike(i) || drop_beside_strike(i)) return true;
    }
    return false;
  }

  /// Whether the decision says after how many waits something strikes.
  [[nodiscard]] static bool is_strike(const Decision& decision) noexcept {
    return decision.stream == backend::RandomStream::Fault && decision.bound == Decisions::kPlaces;
  }

  /// Drops what the world decides from the strike on: all of it but what comes last, which may be
  /// what the strike does; then less of it; then all.
  bool drop_before_strike(std::size_t strike) {
    constexpr int kMostMoments = 2;
    const DecisionList& all = tape_.decisions;
    int moments = 0;
    for (std::size_t end = all.size(); --end > strike + 1 && moments < kMostMoments;) {
      if (all[end].at == all[end - 1].at) continue;
      ++moments;
      if (drop_between(strike, end)) return true;
    }
    return drop_between(strike, all.size());
  }

  bool drop_between(std::size_t strike, std::size_t end) {
    constexpr std::uint64_t kFarthest = 32;
    FERMATA_ASSERT(strike < end);
    DecisionList rest;
    for (std::size_t i = 0; i < tape_.decisions.size(); ++i) {
      const Decision& each = tape_.decisions[i];
      if (i <= strike || i >= end || !is_of_world(each)) rest.push_back(each);
    }
    return rest.size() < tape_.decisions.size() && fails_struck_near(rest, strike, kFarthest);
  }

  /// Drops any one decision.
  bool drop_beside_strike(std::size_t strike) {
    constexpr std::uint64_t kFarthest = 2;
    for (std::size_t i = tape_.decisions.size(); i-- > 0;) {
      if (i == strike) continue;
      if (fails_struck_near(without({i}), i < strike ? strike - 1 : strike, kFarthest)) return true;
    }
    return false;
  }

  /// Whether `rest` fails when its decision `strike` has another number, or the one that it has;
  /// the nearest ones come first.
  bool fails_struck_near(DecisionList rest, std::size_t strike, std::uint64_t farthest) {
    FERMATA_ASSERT(is_strike(rest[strike]));
    const std::uint64_t value = rest[strike].value;
    const auto fails_at = [&](std::uint64_t wait) {
      if (wait == 0 || wait >= Decisions::kPlaces || !may_move()) return false;
      --moves_left_;
      rest[strike].value = wait;
      return fails(rest, tape_.rapidcheck);
    };
    if (fails_at(value)) return true;
    for (std::uint64_t by = 1; by <= farthest; ++by) {
      if ((by < value && fails_at(value - by)) || fails_at(value + by)) return true;
    }
    return false;
  }

  /// Half of what may still be in vain is left to the other ways.
  void allow_moves() noexcept {
    const std::uint64_t runs_left = limits_.runs_in_vain - (runs_ - runs_at_gain_);
    const std::uint64_t steps_left = limits_.steps_in_vain - (steps_ - steps_at_gain_);
    FERMATA_ASSERT(runs_left <= limits_.runs_in_vain);
    FERMATA_ASSERT(steps_left <= limits_.steps_in_vain);
    moves_left_ = std::min(kMostMoves, runs_left / 2);
    moves_end_ = steps_ + steps_left / 2;
  }
  [[nodiscard]] bool may_move() const noexcept { return moves_left_ > 0 && steps_ < moves_end_; }

  // --- decisions that do the same as others ---

  /// Time that passes can bring about what an order, or a number of the program, brings about too;
  /// then that says it. Returns whether one such decision will do instead of all of the world's.
  bool replace_world() {
    constexpr std::size_t kMost = 16;  // More is a failure of the world.
    DecisionList rest = tape_.decisions;
    const std::size_t of_world = std::erase_if(rest, is_of_world);
    FERMATA_ASSERT(of_world + rest.size() == tape_.decisions.size());
    const bool may_do = of_world > 0 && of_world <= kMost;
    return may_do && fails_with_other(rest, [](const Decision&) { return true; });
  }

  /// Replaces two picks by one. Returns whether that was possible anywhere.
  bool merge_picks() {
    for (std::size_t i = 0; i < tape_.decisions.size(); ++i) {
      for (std::size_t j = i + 1; j < tape_.decisions.size() && !spent_; ++j) {
        const bool picks = tape_.decisions[i].is_pick && tape_.decisions[j].is_pick;
        if (picks && fails_with_other(without({i, j}), &is_pick)) return true;
      }
    }
    return false;
  }

  void postpone_picks() {
    for (std::size_t i = tape_.decisions.size(); i-- > 0 && !spent_;) {
      if (i >= tape_.decisions.size() || !is_pick(tape_.decisions[i])) continue;
      const std::uint64_t index = tape_.decisions[i].index;
      fails_with_other(without({i}),
                       [&](const Decision& d) { return is_pick(d) && d.index > index; });
    }
  }

  static bool is_pick(const Decision& decision) { return decision.is_pick; }

  /// All decisions but those at `which`, which are in order.
  [[nodiscard]] DecisionList without(std::initializer_list<std::size_t> which) const {
    DecisionList rest = tape_.decisions;
    for (auto at = std::rbegin(which); at != std::rend(which); ++at) {
      FERMATA_ASSERT(*at < rest.size());
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(*at));
    }
    return rest;
  }

  /// Takes `rest` and one decision more, the last that will do and for which `may_be` holds.
  /// Returns whether one will do.
  template <class MayBe>
  bool fails_with_other(DecisionList rest, const MayBe& may_be) {
    FERMATA_ASSERT(rest.size() < tape_.decisions.size());
    if (!has_room()) return false;
    const DecisionList others = alternatives_to(rest);
    std::uint64_t tries = 0;
    for (auto other = others.rbegin(); other != others.rend(); ++other) {
      if (!may_be(*other)) continue;
      if (++tries > kMostTries || spent_) return false;
      rest.push_back(*other);
      if (fails(rest, tape_.rapidcheck)) return true;
      rest.pop_back();
    }
    return false;
  }

  /// What a run with these decisions, which need not fail, could have decided otherwise.
  DecisionList alternatives_to(const DecisionList& decisions) {
    DecisionList alternatives = trials_.alternatives(decisions, tape_.rapidcheck);
    ++runs_;
    steps_ += trials_.steps();
    return alternatives;
  }

  static constexpr std::uint64_t kMostTries = 120;  // Of alternatives.
  static constexpr std::uint64_t kMostMoves = 200;  // How often one pass moves a strike.

  Trials& trials_;
  const Program& program_;
  ShrinkLimits limits_;
  Tape tape_;
  std::uint64_t runs_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t runs_at_gain_ = 0;
  std::uint64_t steps_at_gain_ = 0;
  std::uint64_t steps_allowed_ = limits_.steps;
  std::size_t smaller_arguments_ = 0;
  std::uint64_t moves_left_ = 0;
  std::uint64_t moves_end_ = 0;  // In steps.
  bool spent_ = false;
};

}  // namespace

ShrinkAttempt shrink(Trials& trials, const Program& program, const Tape& tape,
                     const ShrinkLimits& limits) {
  if (!trials.comes_back_each_time()) {
    return {{}, "its decisions, applied by key, do not reproduce it every time"};
  }
  Shrinker shrinker(trials, program, tape, limits);
  if (!shrinker.begin()) return {{}, "there was no time for it"};
  shrinker.shrink();
  Shrunk shrunk = std::move(shrinker).result(tape);
  std::optional<FoundFailure> found = trials.look_closely(shrunk.found.tape);
  if (!found) return {{}, "the smaller run takes long, and ends without the failure"};
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
