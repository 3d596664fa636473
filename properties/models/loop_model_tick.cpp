// SPDX-License-Identifier: Apache-2.0

// The runs of a loop, tick by tick.

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "properties/models/loop_model.hpp"

namespace fermata::models {

bool LoopModel::empty() const {
  return std::none_of(callbacks_.begin(), callbacks_.end(), [](const auto& each) {
    return each.second.enabled && each.second.referenced;
  });
}

bool LoopModel::is_interrupted() const {
  return failed_ || (main_ && fibers_[*main_].state == State::Scheduled);
}

void LoopModel::drain() {
  while (!is_interrupted()) {
    if (!microtasks_.empty()) {
      const Microtask next = microtasks_.front();
      microtasks_.pop_front();
      if (next.fiber) {
        resume(*next.fiber);
      } else {
        note("task " + std::to_string(next.task));
        call(kMicrotask, 0);
      }
    } else if (!ready_.empty()) {
      const std::uint64_t id = ready_.front();
      ready_.pop_front();
      invoke(id);
    } else {
      return;
    }
  }
}

void LoopModel::invoke(std::uint64_t id) {
  if (rules_.real_time) ++now_;
  Callback& callback = callbacks_.at(id);
  if (collected_.erase(id) > 0 && !may_come_next(callback)) note("out of order");
  callback.pending = false;
  const Kind kind = callback.kind;
  const bool once = callback.once();
  if (callback.takes) connections_[callback.value].has_data = false;
  if (once) {
    cancel(id);
  } else if (callback.repeats()) {
    callback.invokable = false;
    callback.deadline = now_ + callback.span;
    enabling_.push_back(id);
  }
  if (kind == Kind::Guard || kind == Kind::Pulse) return invoke_guard(kind);
  note("call " + std::to_string(id));
  call(id, once ? 0 : id);
}

void LoopModel::add_guard(const LoopRun& run) {
  constexpr std::uint64_t kLong = std::numeric_limits<std::uint32_t>::max();
  busy_ticks_ = 0;
  if (run.is_busy) {
    add(Kind::Pulse);
  } else {
    add(Kind::Guard, rules_.real_time ? kLong : kGuardSpan);
  }
  guard_ = next_id_ - 1;
  set_referenced(guard_, false);
}

void LoopModel::invoke_guard(Kind kind) {
  if (kind == Kind::Pulse && ++busy_ticks_ < kBusyTicks) return;
  note(kind == Kind::Pulse ? "enough" : "guard");
  stop_ = true;
}

void LoopModel::activate() {
  for (const std::uint64_t id : std::exchange(enabling_, {})) {
    Callback& callback = callbacks_.at(id);
    callback.invokable = true;
    callback.watched = callback.kind == Kind::Signal;
    if (callback.is_timed()) callback.arming = next_arming_++;
    if (callback.kind == Kind::Defer) ready_.push_back(id);
  }
}

bool LoopModel::is_ready(const Callback& callback) const {
  if (!running_ || !callback.invokable || !callback.polls()) return false;
  const Connection& connection = connections_[callback.value];
  return callback.kind == Kind::Readable ? connection.has_data : !connection.is_full;
}

void LoopModel::look() {
  for (auto& [id, callback] : callbacks_) {
    if (callback.watched && raised_[callback.value]) callback.pending = true;
    if (is_ready(callback) && std::count(ready_.begin(), ready_.end(), id) == 0)
      callback.pending = true;
  }
  raised_ = {};
}

bool LoopModel::sees_something() const {
  if (std::count(raised_.begin(), raised_.end(), true) > 0) return true;
  return std::any_of(callbacks_.begin(), callbacks_.end(), [this](const auto& each) {
    return !each.second.pending && is_ready(each.second);
  });
}

void LoopModel::may_look() {
  if (choices_ != nullptr && sees_something() && choices_->choose()) look();
}

void LoopModel::wait() {
  constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
  look();
  std::uint64_t earliest = kNever;
  for (const auto& [id, callback] : callbacks_) {
    if (!callback.invokable || callback.masked) continue;
    if (callback.pending) return;
    if (callback.is_timed()) earliest = std::min(earliest, callback.deadline);
  }
  const bool at_once = stop_ || empty() || !enabling_.empty() || earliest == kNever;
  if (!at_once) now_ = std::max(now_, earliest);
}

void LoopModel::collect() {
  std::vector<std::uint64_t> due;
  for (const auto& [id, callback] : callbacks_) {
    const bool happened = callback.is_timed() ? callback.deadline <= now_ : callback.pending;
    if (callback.invokable && !callback.masked && happened) due.push_back(id);
  }
  const auto rank = [this](std::uint64_t id) {
    const Callback& callback = callbacks_.at(id);
    if (callback.is_timed()) return std::tuple(0, callback.deadline, callback.arming);
    if (callback.kind != Kind::Signal) return std::tuple(1, id, id);
    return std::tuple(2, std::uint64_t{callback.value}, id);
  };
  std::sort(due.begin(), due.end(), [&](auto a, auto b) { return rank(a) < rank(b); });
  if (rules_.any_order && seen_ != nullptr) follow(due);
  collected_ = {due.begin(), due.end()};
  groups_.clear();
  group_ = -1;
  ready_.insert(ready_.end(), due.begin(), due.end());
}

/// Brings `due` into the order in which they are called from here on, as it was seen.
void LoopModel::follow(std::vector<std::uint64_t>& due) const {
  const auto place = [this](std::uint64_t id) {
    const auto from = seen_->begin() + static_cast<std::ptrdiff_t>(log_.size());
    const std::string call = "call " + std::to_string(id);
    return std::find_if(from, seen_->end(), [&](const std::string& note) {
      return note.compare(0, note.find('@'), call) == 0;
    });
  };
  std::stable_sort(due.begin(), due.end(), [&](auto a, auto b) { return place(a) < place(b); });
}

/// Whether the contract lets it come behind those that the tick has called before: the kinds one
/// after the other, timers by deadline and signals by number.
bool LoopModel::may_come_next(const Callback& callback) {
  const bool is_guard = callback.kind == Kind::Guard || callback.kind == Kind::Pulse;
  if (!rules_.any_order || is_guard) return true;
  const std::uint64_t place = callback.is_timed()             ? callback.deadline
                              : callback.kind == Kind::Signal ? callback.value
                                                              : 0;
  const bool is_new = callback.group() != group_;
  if (is_new && !groups_.insert(callback.group()).second) return false;
  const bool in_order = is_new || place >= place_;
  group_ = callback.group();
  place_ = place;
  return in_order;
}

void LoopModel::ticks() {
  drain();
  while (!is_interrupted() && !stop_ && !empty()) {
    activate();
    drain();
    if (is_interrupted()) return;
    wait();
    collect();
    drain();
  }
}

void LoopModel::run() {
  stop_ = false;
  running_ = true;
  may_look();
  ticks();
  running_ = false;
  may_look();
}

}  // namespace fermata::models
