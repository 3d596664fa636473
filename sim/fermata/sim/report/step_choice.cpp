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
constexpr std::size_t kMostBeforeCrash = 3;  // Steps of a machine.
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
        slice_(run_log, effects_),
        has_row_before_(run_log.steps().size()) {
    FERMATA_ASSERT(begin_ < end_);
    FERMATA_ASSERT(end_ <= run_log.steps().size());
    choice_.steps.resize(run_log.steps().size());
    choice_.terse.resize(run_log.steps().size());
    choice_.turns.resize(run_log.turns().size());
    choice_.disturbances.resize(run_log.disturbances().size());
    choice_.cycle = find_cycle(run_log, end_);
  }

  StepChoice choose() && {
    is_terse_ = has_to_be_terse();
    for (const std::size_t effect : effects_) show_step(effect);
    if (choice_.cycle) show_cycle(*choice_.cycle);
    if (range_.decisive) show_decision(*range_.decisive);
    if (is_terse_) {
      show_what_tells();
    } else {
      show_faults(range_.from);
      if (range_.decisive) show_way_from_decision();
    }
    show_closest(0, false);
    show_what_costs_nothing();
    if (range_.lines == kAllLines) show_rest();
    return std::move(choice_);
  }

 private:
  [[nodiscard]] std::size_t index_of(std::size_t step) const {
    return step - std::min(step, run_log_.forgotten());
  }

  /// Whether there is no room for all causes, and some of them tell more than others.
  [[nodiscard]] bool has_to_be_terse() const {
    std::size_t lines = 0;
    bool is_told = false;
    for (std::size_t i = begin_; i < end_ && !(is_told && lines > range_.lines); ++i) {
      if (!slice_.distance(i)) continue;
      lines += text_.clauses(i).size();
      is_told = is_told || (!is_effect(i) && tells(i));
    }
    return is_told && lines > range_.lines;
  }

  [[nodiscard]] bool tells(std::size_t step) const { return !text_.telling_clauses(step).empty(); }

  [[nodiscard]] bool is_effect(std::size_t step) const {
    return std::find(effects_.begin(), effects_.end(), step) != effects_.end();
  }

  /// Whether a mark stands for this step, and for which of its neighbours, too.
  [[nodiscard]] bool is_skipped(std::size_t step) const { return !choice_.steps[step]; }
  [[nodiscard]] bool is_skipped_before(std::size_t step) const {
    FERMATA_ASSERT(step < end_);
    return step > begin_ && !has_row_before_[step] && is_skipped(step - 1);
  }
  [[nodiscard]] bool is_skipped_after(std::size_t step) const {
    FERMATA_ASSERT(step >= begin_);
    return step + 1 < end_ && !has_row_before_[step + 1] && is_skipped(step + 1);
  }

  /// How many lines a table with this step has, the mark of the steps around it split or gone.
  [[nodiscard]] std::size_t used_with(std::size_t step, std::size_t clauses) const {
    FERMATA_ASSERT(used_ > 0);
    FERMATA_ASSERT(clauses > 0);
    return used_ - 1 + clauses + static_cast<std::size_t>(is_skipped_before(step)) +
           static_cast<std::size_t>(is_skipped_after(step));
  }

  [[nodiscard]] bool may_show(std::size_t step) const {
    if (step < begin_ || step >= end_ || choice_.steps[step]) return false;
    if (text_.has_only_gone_on(step)) return false;
    return !choice_.cycle || step < first_of_cycle() || step >= choice_.cycle->begin;
  }

  void show_step(std::size_t step) {
    if (may_show(step)) show(step, kAllLines);
  }

  void show_step_if_there_is_room(std::size_t step) {
    if (may_show(step)) show(step, range_.lines);
  }

  /// Unless the table has more than `most` lines then.
  void show(std::size_t step, std::size_t most) {
    const std::vector<std::string> telling = text_.telling_clauses(step);
    const bool is_terse = is_terse_ && !is_effect(step) && !telling.empty();
    const std::size_t used = used_with(step, (is_terse ? telling : text_.clauses(step)).size());
    if (used > most) return;
    FERMATA_ASSERT(!choice_.steps[step]);
    choice_.steps[step] = true;
    choice_.terse[step] = is_terse;
    used_ = used;
  }

  /// Counts the line of something that stands before this step, and the mark that it splits.
  void add_row_before(std::size_t step) {
    ++used_;
    if (step < begin_ || step >= end_ || has_row_before_[step]) return;
    if (is_skipped(step) && is_skipped_before(step)) ++used_;
    has_row_before_[step] = true;
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

  // With the steps beside it.
  void show_decision(std::size_t turn) {
    FERMATA_ASSERT(turn < run_log_.turns().size());
    const std::size_t at = index_of(run_log_.turns()[turn].step);
    decided_at_ = at;
    choice_.turns[turn] = true;
    add_row_before(at);
    const bool shows_both = !is_terse_ || run_log_.turns()[turn].decision.is_pick;
    if (at > 0 && (shows_both || tells(at - 1) || slice_.distance(at - 1))) show_step(at - 1);
    if (at < end_ && (shows_both || tells(at))) show_step(at);
  }

  // What happened after the decision says more than what was before.
  void show_what_tells() {
    FERMATA_ASSERT(is_terse_);
    FERMATA_ASSERT(decided_at_ <= run_log_.steps().size());
    show_faults(run_log_.forgotten() + decided_at_);
    if (range_.decisive) show_way_from_decision();
    show_closest(decided_at_ - std::min<std::size_t>(decided_at_, 1), true);
    show_faults(range_.from);
    show_closest(0, true);
  }

  /// What happened to machines and links, and the other decisions, from this step on.
  void show_faults(std::size_t from) {
    if (used_ >= range_.lines) return;
    show_recent(run_log_.disturbances(), choice_.disturbances, from, range_.lines / 4);
    show_before_crashes();
    show_recent(run_log_.turns(), choice_.turns, from, range_.lines / 5);
  }

  // How it led to the failure.
  void show_way_from_decision() {
    FERMATA_ASSERT(range_.decisive);
    std::vector<std::size_t> way = way_from(decided_at_);
    if (is_terse_) std::erase_if(way, [&](std::size_t step) { return !tells(step); });
    const std::size_t shown = std::min(way.size(), range_.lines / kLinesOfAWay);
    for (std::size_t i = 0; i < shown; ++i) {  // From both of its ends.
      show_step_if_there_is_room(way[i % 2 == 0 ? i / 2 : way.size() - 1 - i / 2]);
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

  /// The latest of them from step `from` on and within the range, not more than `room`.
  template <class Items>
  void show_recent(const Items& items, std::vector<bool>& shown, std::size_t from,
                   std::size_t room) {
    for (std::size_t i = items.size(); i-- > 0 && room > 0;) {
      const bool is_within = items[i].step >= from && items[i].step <= range_.to;
      if (!is_within || shown[i] || is_silent(items[i])) continue;
      shown[i] = true;
      add_row_before(index_of(items[i].step));
      --room;
    }
  }

  [[nodiscard]] bool is_silent(const RunLog::Turn& turn) const {
    return goes_without_saying(turn.decision, names_) || (is_terse_ && !is_fault(turn));
  }
  [[nodiscard]] bool is_fault(const RunLog::Turn& turn) const {
    if (turn.decision.is_pick || turn.decision.stream == backend::RandomStream::Workload) {
      return false;
    }
    const auto& all = run_log_.disturbances();
    return std::any_of(all.begin(), all.end(), [&](const RunLog::Disturbance& each) {
      return each.step == turn.step && each.at == turn.decision.at;
    });
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
    for (std::size_t i = 0; i < choice_.disturbances.size(); ++i) {
      const RunLog::Disturbance& crash = run_log_.disturbances()[i];
      if (!choice_.disturbances[i] || crash.kind != "crash") continue;
      FERMATA_ASSERT(!crash.machine.empty());
      for (const std::size_t step : last_steps_before(crash)) show_step_if_there_is_room(step);
    }
  }

  /// The last step of the machine that crashes. In a terse table the last ones that tell something,
  /// latest first, of a coroutine that the crash interrupts.
  [[nodiscard]] std::vector<std::size_t> last_steps_before(const RunLog::Disturbance& crash) const {
    FERMATA_ASSERT(crash.kind == "crash");
    std::vector<std::size_t> last;
    std::optional<std::size_t> interrupted;  // Its lane.
    std::vector<bool> is_over(run_log_.lanes().size());
    const std::size_t most = is_terse_ ? kMostBeforeCrash : 1;
    for (std::size_t i = index_of(crash.step); i-- > begin_ && last.size() < most;) {
      const RunLog::Step& step = run_log_.steps()[i];
      if (run_log_.lanes()[step.lane].machine != crash.machine) continue;
      const bool waits = step.ending == RunLog::Ending::Waits && !is_over[step.lane];
      if (is_terse_ && !interrupted && waits && tells(i)) interrupted = step.lane;
      const bool is_its = step.lane == interrupted && tells(i);
      if (!is_terse_ || is_its) last.push_back(i);
      is_over[step.lane] = true;
    }
    return last;
  }

  // A cause of one line, instead of the mark that it is left out.
  void show_what_costs_nothing() {
    for (std::size_t i = begin_; i < end_; ++i) {
      if (!may_show(i) || !slice_.distance(i) || (is_terse_ && !tells(i))) continue;
      show(i, used_);
    }
  }

  /// The causes that are closest to the failure, from step `from` on; `tell`: only those that tell
  /// something. In a terse table the others have half of the lines at most.
  void show_closest(std::size_t from, bool tell) {
    std::vector<std::tuple<bool, std::uint64_t, std::size_t>> causes;
    for (std::size_t i = std::max(begin_, from); i < end_; ++i) {
      const std::optional<std::uint64_t> distance = slice_.distance(i);
      if (!distance || (tell && !tells(i))) continue;
      causes.emplace_back(i + 1 < decided_at_, *distance, end_ - i);
    }
    std::sort(causes.begin(), causes.end());
    const std::size_t most = is_terse_ && !tell ? range_.lines / 2 : range_.lines;
    for (const auto& [is_before, distance, from_end] : causes) {
      if (used_ >= most) return;
      show_step_if_there_is_room(end_ - from_end);
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
  std::vector<bool> has_row_before_;
  bool is_terse_ = false;
  std::size_t decided_at_ = 0;
  std::size_t used_ = 1;  // The mark of all steps.
};

}  // namespace

StepChoice choose_steps(const RunLog& run_log, const StepText& text, const KeyNames& names,
                        const StepRange& range) {
  FERMATA_ASSERT(range.from < range.to);
  return Chooser(run_log, text, names, range).choose();
}

}  // namespace fermata::sim
