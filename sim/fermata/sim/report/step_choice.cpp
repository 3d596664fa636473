// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/report/step_choice.hpp"

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "fermata/base/assert.hpp"
#include "fermata/sim/report/causal_slice.hpp"

namespace fermata::sim {
namespace {

constexpr std::size_t kMostWaits = 8;
constexpr std::size_t kLinesOfAWay =
    5;  // A step of it takes two lines or three, and a third is enough.

class Chooser {
 public:
  Chooser(const RunLog& run_log, const StepText& text, const KeyNames& names,
          const StepRange& range)
      : run_log_(run_log),
        text_(text),
        names_(names),
        range_(range),
        begin_(index_of(range.from)),
        end_(index_of(range.to)),
        effects_(find_effects()),
        slice_(run_log, effects_) {
    FERMATA_ASSERT(begin_ < end_);
    FERMATA_ASSERT(end_ <= run_log.steps().size());
    choice_.steps.resize(run_log.steps().size());
    choice_.turns.resize(run_log.turns().size());
    choice_.disturbances.resize(run_log.disturbances().size());
    choice_.cycle = find_cycle(run_log, end_);
  }

  StepChoice choose() && {
    for (const std::size_t effect : effects_) show_step(effect);
    if (choice_.cycle) show_cycle(*choice_.cycle);
    if (range_.decisive) show_decisive(*range_.decisive);
    show_recent(run_log_.disturbances(), choice_.disturbances, range_.lines / 4);
    show_before_crashes();
    show_recent(run_log_.turns(), choice_.turns, range_.lines / 5);
    show_closest();
    if (range_.lines == kAllLines) show_rest();
    return std::move(choice_);
  }

 private:
  [[nodiscard]] std::size_t index_of(std::size_t step) const {
    return step - std::min(step, run_log_.forgotten());
  }

  [[nodiscard]] bool has_room() const { return used_ < range_.lines; }

  void show_step(std::size_t step) {
    if (step < begin_ || step >= end_ || choice_.steps[step]) return;
    if (choice_.cycle && step >= first_of_cycle() && step < choice_.cycle->begin) return;
    choice_.steps[step] = true;
    used_ += text_.clauses(step).size();
  }

  /// Where the first repetition of the cycle begins.
  [[nodiscard]] std::size_t first_of_cycle() const {
    const StepCycle& cycle = *choice_.cycle;
    FERMATA_ASSERT(cycle.count > 0);
    return cycle.begin - std::min(cycle.begin, cycle.length * (cycle.count - 1));
  }

  // With all of its repetitions a cycle is nothing special.
  void show_rest() {
    choice_.cycle.reset();
    for (std::size_t i = begin_; i < end_; ++i) choice_.steps[i] = true;
  }

  void show_cycle(const StepCycle& cycle) {
    FERMATA_ASSERT(cycle.length > 0);
    FERMATA_ASSERT(cycle.begin + cycle.length == end_);
    const std::size_t shown = std::min(cycle.length, range_.lines / 2);
    for (std::size_t i = 0; i < shown; ++i) show_step(cycle.begin + i);
  }

  // The steps beside it, and how it led to the failure.
  void show_decisive(std::size_t turn) {
    FERMATA_ASSERT(turn < run_log_.turns().size());
    const std::size_t at = index_of(run_log_.turns()[turn].step);
    decided_at_ = at;
    choice_.turns[turn] = true;
    ++used_;
    if (at > 0) show_step(at - 1);
    show_step(at);
    const std::vector<std::size_t> way = way_from(at);
    const std::size_t shown = std::min(way.size(), range_.lines / kLinesOfAWay);
    for (std::size_t i = 0; i < shown; ++i) {  // From both of its ends.
      show_step(way[i % 2 == 0 ? i / 2 : way.size() - 1 - i / 2]);
    }
  }

  /// What is to be explained: the last step, or the waits that do not end if there are any.
  [[nodiscard]] std::vector<std::size_t> find_effects() const {
    std::vector<std::size_t> effects;
    if (range_.blocked) effects = last_waits();
    if (effects.empty()) effects.push_back(end_ - 1);
    return effects;
  }

  /// The steps, within the range, in which coroutines began to wait that still do, the latest
  /// first.
  [[nodiscard]] std::vector<std::size_t> last_waits() const {
    std::vector<bool> seen(run_log_.lanes().size());
    std::vector<std::size_t> waits;
    for (std::size_t i = end_; i-- > begin_ && waits.size() < kMostWaits;) {
      const RunLog::Step& step = run_log_.steps()[i];
      FERMATA_ASSERT(step.lane < seen.size());
      if (seen[step.lane]) continue;
      seen[step.lane] = true;
      if (step.ending == RunLog::Ending::Waits) waits.push_back(i);
    }
    return waits;
  }

  /// The shorter way of those that begin with the step before or the one after a decision.
  [[nodiscard]] std::vector<std::size_t> way_from(std::size_t at) const {
    FERMATA_ASSERT(at <= run_log_.steps().size());
    std::vector<std::size_t> way;
    for (const std::size_t start : {at, at - std::min<std::size_t>(at, 1)}) {
      if (start >= end_) continue;
      std::vector<std::size_t> other = slice_.path_from(start);
      if (way.empty() || (!other.empty() && other.size() < way.size())) way = std::move(other);
    }
    return way;
  }

  /// The latest of them within the range, not more than `room`.
  template <class Items>
  void show_recent(const Items& items, std::vector<bool>& shown, std::size_t room) {
    for (std::size_t i = items.size(); i-- > 0 && room > 0;) {
      const bool is_within = items[i].step >= range_.from && items[i].step <= range_.to;
      if (!is_within || shown[i] || is_silent(items[i])) continue;
      shown[i] = true;
      ++used_;
      --room;
    }
  }

  [[nodiscard]] bool is_silent(const RunLog::Turn& turn) const {
    return goes_without_saying(turn.decision, names_);
  }
  /// A fault that strikes a link is told by its decision.
  [[nodiscard]] bool is_silent(const RunLog::Disturbance& disturbance) const {
    if (disturbance.kind == "crash" || disturbance.kind == "restart") return false;
    return std::any_of(run_log_.turns().begin(), run_log_.turns().end(), [&](const auto& turn) {
      return turn.step == disturbance.step && turn.decision.at == disturbance.at &&
             !turn.decision.is_pick && !is_silent(turn);
    });
  }

  /// What the machines that crash did last.
  void show_before_crashes() {
    for (std::size_t i = 0; i < choice_.disturbances.size() && has_room(); ++i) {
      const RunLog::Disturbance& crash = run_log_.disturbances()[i];
      if (!choice_.disturbances[i] || crash.kind != "crash") continue;
      FERMATA_ASSERT(!crash.machine.empty());
      for (std::size_t step = index_of(crash.step); step-- > begin_;) {
        const std::size_t lane = run_log_.steps()[step].lane;
        if (run_log_.lanes()[lane].machine != crash.machine) continue;
        show_step(step);
        break;
      }
    }
  }

  // What happened after the decision says more than what was before.
  void show_closest() {
    std::vector<std::tuple<bool, std::uint64_t, std::size_t>> causes;
    for (std::size_t i = begin_; i < end_; ++i) {
      const std::optional<std::uint64_t> distance = slice_.distance(i);
      if (distance) causes.emplace_back(i + 1 < decided_at_, *distance, end_ - i);
    }
    std::sort(causes.begin(), causes.end());
    for (const auto& [is_before, distance, from_end] : causes) {
      if (!has_room()) return;
      show_step(end_ - from_end);
    }
  }

  const RunLog& run_log_;
  const StepText& text_;
  const KeyNames& names_;
  const StepRange& range_;
  std::size_t begin_;
  std::size_t end_;
  std::vector<std::size_t> effects_;
  CausalSlice slice_;
  StepChoice choice_;
  std::size_t decided_at_ = 0;
  std::size_t used_ = 0;
};

}  // namespace

StepChoice choose_steps(const RunLog& run_log, const StepText& text, const KeyNames& names,
                        const StepRange& range) {
  FERMATA_ASSERT(range.from < range.to);
  return Chooser(run_log, text, names, range).choose();
}

}  // namespace fermata::sim
