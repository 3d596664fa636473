// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/strategy/dfs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fermata/base/assert.hpp"

namespace fermata::sim {

DfsStrategy::DfsStrategy(std::uint64_t bound, std::vector<std::uint32_t> picks)
    : bound_(bound), one_run_(true), given_(std::move(picks)) {}

std::string DfsStrategy::name() const {
  std::string text = bound_ == kUnbounded ? "dfs" : fmt::format("dfs:{}", bound_);
  if (!began_ && !one_run_) return text;
  const std::vector<std::uint32_t>& picks = one_run_ ? given_ : picks_;
  std::size_t count = picks.size();
  while (count > 0 && picks[count - 1] == 0) --count;
  text += ":at=";
  if (count == 0) text += '0';
  for (std::size_t i = 0; i < count; ++i) text += fmt::format("{}{}", i > 0 ? "." : "", picks[i]);
  return text;
}

void DfsStrategy::begin_run(std::uint64_t /*seed*/) {
  FERMATA_ASSERT(planned_ <= nodes_.size());
  began_ = true;
  nodes_.resize(planned_);
  picked_ = 0;
  deviations_ = 0;
  picks_.clear();
  steps_.clear();
  asleep_.clear();
  open_ = Step::kNoPick;
  repeats_ = false;
}

// --- picks ---

std::size_t DfsStrategy::pick(const Candidates& candidates) {
  close_step();
  const std::size_t at = picked_++;
  std::size_t chosen = 0;
  if (one_run_) {
    if (at < given_.size()) chosen = std::min<std::size_t>(given_[at], candidates.size() - 1);
    return chosen;
  }
  if (at >= kDeepest) {
    cut_ = true;
    return 0;
  }
  chosen = at < planned_ ? pick_again(candidates) : pick_anew(candidates);
  FERMATA_ASSERT(chosen < candidates.size());
  picks_.push_back(static_cast<std::uint32_t>(chosen));
  deviations_ += chosen != 0;
  return chosen;
}

std::size_t DfsStrategy::pick_again(const Candidates& candidates) {
  FERMATA_ASSERT(picked_ <= planned_);
  const Node& node = nodes_[picked_ - 1];
  bool same = node.candidates.size() == candidates.size();
  for (std::size_t i = 0; same && i < candidates.size(); ++i) {
    same = node.candidates[i] == candidates.path(i);
  }
  if (!same) {
    diverged_ = true;
    return 0;
  }
  asleep_ = node.asleep;
  open_ = picked_ - 1;
  open_path_ = node.candidates[node.chosen];
  FERMATA_ASSERT(node.chosen < candidates.size());
  return node.chosen;
}

std::size_t DfsStrategy::pick_anew(const Candidates& candidates) {
  if (repeats_ || diverged_) return 0;
  FERMATA_ASSERT(nodes_.size() + 1 == picked_);
  Node node;
  node.deviations = deviations_;
  node.asleep = asleep_;
  std::size_t chosen = candidates.size();
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    node.candidates.push_back(candidates.path(i));
    if (chosen == candidates.size() && !is_asleep(candidates.path(i))) chosen = i;
  }
  if (chosen == candidates.size()) {
    repeats_ = true;
    return 0;
  }
  node.chosen = chosen;
  node.wanted.assign(candidates.size(), bound_ != kUnbounded);
  node.tried.resize(candidates.size());
  node.wanted[chosen] = true;
  open_ = nodes_.size();
  open_path_ = node.candidates[chosen];
  nodes_.push_back(std::move(node));
  return chosen;
}

bool DfsStrategy::is_asleep(std::uint64_t path) const noexcept {
  return std::any_of(asleep_.begin(), asleep_.end(),
                     [&](const Asleep& each) { return each.path == path; });
}

// --- steps ---

// One that was picked and never ran: it was cancelled before it began.
void DfsStrategy::close_step() {
  if (open_ == Step::kNoPick || news() == StepNews::None) return;
  end_step(open_path_, Footprint{{}, true});
}

void DfsStrategy::end_step(std::uint64_t path, const Footprint& footprint) {
  if (one_run_ || repeats_ || diverged_) return;
  const std::size_t pick = std::exchange(open_, Step::kNoPick);
  const bool goes_on = pick == Step::kNoPick && !steps_.empty() && steps_.back().path == path;
  if (!goes_on) {
    if (pick == Step::kNoPick && is_asleep(path)) {
      repeats_ = true;
      return;
    }
    steps_.emplace_back();
    steps_.back().path = path;
    steps_.back().pick = pick;
    FERMATA_ASSERT(pick == Step::kNoPick || pick < nodes_.size());
    if (pick != Step::kNoPick) nodes_[pick].step = steps_.size() - 1;
  }
  Step& step = steps_.back();
  step.everything = step.everything || footprint.everything || path == 0;
  reduced_ = reduced_ || !step.everything;
  add_uses(step.uses, footprint.uses);
  wake(step);
}

// Whoever depends on what has happened may come to something new now.
void DfsStrategy::wake(const Step& step) {
  std::erase_if(asleep_, [&](const Asleep& each) {
    return step.everything || each.path == step.path || in_conflict(each.uses, step.uses);
  });
}

// --- the next schedule ---

void DfsStrategy::end_run(const RunSummary& /*run*/) {
  if (exhausted_) return;
  close_step();
  if (one_run_) {
    ++runs_;
    exhausted_ = true;
    return;
  }
  FERMATA_ASSERT(began_);
  if (!repeats_) ++runs_;
  if (bound_ == kUnbounded) find_branches();
  exhausted_ = diverged_ || !next_schedule();
}

void DfsStrategy::find_branches() {
  FERMATA_ASSERT(bound_ == kUnbounded);
  if (steps_.size() > kMostStepsToCompare) return want_all();
  for (const Step& step : steps_) {
    if (step.everything && step.pick != Step::kNoPick) {
      Node& node = nodes_[step.pick];
      node.wanted.assign(node.wanted.size(), true);
    }
  }
  const Races races(steps_);
  races.for_each([&](std::size_t i, std::size_t j) {
    const std::size_t pick = steps_[i].pick;
    if (pick == Step::kNoPick || steps_[i].everything) return;
    want_one_of(nodes_[pick], races.initials(i, j, nodes_[pick].candidates));
  });
}

// Any of them will do: what was tried, or is going to be, or sleeps, is as good as another.
void DfsStrategy::want_one_of(Node& node, const std::vector<std::uint64_t>& paths) {
  if (paths.empty()) return;
  std::size_t last = 0;
  for (const std::uint64_t path : paths) {
    const auto found = std::find(node.candidates.begin(), node.candidates.end(), path);
    last = static_cast<std::size_t>(found - node.candidates.begin());
    FERMATA_ASSERT(last < node.candidates.size());
    const bool sleeps = std::any_of(node.asleep.begin(), node.asleep.end(),
                                    [&](const Asleep& each) { return each.path == path; });
    if (node.wanted[last] || sleeps) return;
  }
  node.wanted[last] = true;
}

void DfsStrategy::want_all() {
  for (Node& node : nodes_) node.wanted.assign(node.wanted.size(), true);
}

bool DfsStrategy::next_schedule() {
  while (!nodes_.empty()) {
    if (advance(nodes_.back())) {
      planned_ = nodes_.size();
      return true;
    }
    nodes_.pop_back();
  }
  planned_ = 0;
  return false;
}

// What has been tried sleeps from now on. What used everything need not: the first step wakes it.
bool DfsStrategy::advance(Node& node) {
  FERMATA_ASSERT(node.wanted[node.chosen]);
  FERMATA_ASSERT(!node.tried[node.chosen]);
  Asleep tried{node.candidates[node.chosen], {}};
  const bool known = node.step < steps_.size() && steps_[node.step].path == tried.path;
  if (known && !steps_[node.step].everything) {
    for (const std::uint64_t use : steps_[node.step].uses) {
      if ((use & Footprint::kFresh) == 0) tried.uses.push_back(use);
    }
    node.asleep.push_back(std::move(tried));
  }
  node.tried[node.chosen] = true;
  for (std::size_t i = 0; i < node.candidates.size(); ++i) {
    const std::uint64_t path = node.candidates[i];
    const bool sleeps = std::any_of(node.asleep.begin(), node.asleep.end(),
                                    [&](const Asleep& each) { return each.path == path; });
    if (!node.wanted[i] || node.tried[i] || sleeps || !in_bound(node, i, bound_)) continue;
    node.chosen = i;
    node.step = Step::kNoPick;
    return true;
  }
  return false;
}

std::string DfsStrategy::coverage() const {
  const char* unit = reduced_ ? "classes of schedules" : "schedules";
  std::string text;
  if (one_run_) {
    text = "1 schedule, the given one";
  } else if (exhausted_ && !cut_ && !diverged_) {
    text = fmt::format("all {} {}", runs_, unit);
  } else {
    text = fmt::format("{} {}, not all", runs_, unit);
  }
  if (bound_ != kUnbounded && !one_run_) {
    text += fmt::format(", with at most {} picks that are not production's", bound_);
  }
  if (cut_) text += fmt::format("; behind its first {} picks no run was varied", kDeepest);
  if (diverged_) text += "; the same picks led to another run";
  return text + "; the world was held calm, without faults";
}

}  // namespace fermata::sim
