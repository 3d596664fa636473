// SPDX-License-Identifier: Apache-2.0
#include "properties/models/loop_model.hpp"

#include <algorithm>
#include <utility>

namespace fermata::models {

void LoopModel::note(const std::string& what) {
  log_.push_back(rules_.real_time ? what : what + "@" + std::to_string(now_));
  if (seen_ == nullptr) return;
  if (log_.size() > seen_->size() || log_.back() != (*seen_)[log_.size() - 1]) throw Diverged();
}

std::vector<std::string> LoopModel::play() {
  for (const LoopRun& run : script_.runs) {
    has_handler_ = run.has_handler;
    run_frame({&run.before});
    add_guard(run);
    if (run.suspends) {
      run_suspended();
    } else {
      this->run();
      note(failed_ ? "error" : stop_ ? "stopped" : "empty");
    }
    failed_ = false;
    note(inventory());
    cancel(guard_);
  }
  return std::move(log_);
}

std::string LoopModel::inventory() const {
  const auto suspended = std::count_if(fibers_.begin(), fibers_.end(), [](const Fiber& fiber) {
    return !fiber.is_main && (fiber.state == State::Pending || fiber.state == State::Scheduled);
  });
  const auto timers = std::count_if(callbacks_.begin(), callbacks_.end(),
                                    [](const auto& each) { return each.second.is_timed(); });
  std::string text =
      std::to_string(suspended) + " suspended, " + std::to_string(timers) + " timers:";
  for (const auto& [id, callback] : callbacks_) {
    text += " " + std::to_string(id);
    text += callback.enabled ? "e" : "";
    text += callback.referenced ? "r" : "";
  }
  return text;
}

std::vector<std::string> LoopModel::nearest(const LoopScript& script, const LoopRules& rules,
                                            const std::vector<std::string>& seen) {
  constexpr int kMostAttempts = 20'000;
  Choices choices;
  std::vector<std::string> best;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    LoopModel model(script, rules);
    model.seen_ = &seen;
    model.choices_ = &choices;
    try {
      std::vector<std::string> all = model.play();
      if (all == seen) return all;
      if (all.size() >= best.size()) best = std::move(all);
    } catch (const Diverged&) {
      if (model.log_.size() >= best.size()) best = std::move(model.log_);
    }
    if (!choices.next()) break;
  }
  return best;
}

// --- registering and control ---

void LoopModel::add(Kind kind, std::uint64_t span, std::size_t value, bool takes) {
  Callback callback{kind, span, value, takes};
  callback.deadline = now_ + span;
  callbacks_.emplace(next_id_, callback);
  enabling_.push_back(next_id_++);
}

void LoopModel::leave_lines(std::uint64_t id) {
  for (Ids* ids : {&enabling_, &ready_}) std::erase(*ids, id);
}

void LoopModel::forget_events(std::uint64_t id) {
  leave_lines(id);
  Callback& callback = callbacks_.at(id);
  callback.invokable = callback.pending = callback.watched = false;
}

void LoopModel::disable(std::uint64_t id) {
  const auto found = callbacks_.find(id);
  if (found == callbacks_.end() || !found->second.enabled) return;
  found->second.enabled = false;
  forget_events(id);
}

void LoopModel::enable(std::uint64_t id) {
  const auto found = callbacks_.find(id);
  if (found == callbacks_.end()) return note("unknown " + std::to_string(id));
  Callback& callback = found->second;
  if (callback.enabled) return;
  callback.enabled = true;
  callback.deadline = now_ + callback.span;
  if (!callback.masked) enabling_.push_back(id);
}

void LoopModel::set_referenced(std::uint64_t id, bool referenced) {
  const auto found = callbacks_.find(id);
  if (found != callbacks_.end()) {
    found->second.referenced = referenced;
  } else if (referenced) {
    note("unknown " + std::to_string(id));
  }
}

void LoopModel::cancel(std::uint64_t id) {
  if (callbacks_.find(id) == callbacks_.end()) return;
  forget_events(id);
  callbacks_.erase(id);
}

void LoopModel::notify(std::uint64_t id) {
  const auto found = callbacks_.find(id);
  if (found == callbacks_.end()) return;
  Callback& callback = found->second;
  if (callback.enabled && callback.kind == Kind::Notice) callback.pending = true;
}

// While a call of it is suspended, a callback is not called again; a signal or notice is kept.
void LoopModel::mask(std::uint64_t id) {
  const auto found = callbacks_.find(id);
  if (found == callbacks_.end() || found->second.masked) return;
  Callback& callback = found->second;
  callback.masked = true;
  leave_lines(id);
  if (callback.kind != Kind::Signal && callback.kind != Kind::Notice) callback.invokable = false;
}

void LoopModel::unmask(std::uint64_t id) {
  const auto found = callbacks_.find(id);
  if (found == callbacks_.end() || !std::exchange(found->second.masked, false)) return;
  if (!found->second.enabled) return;
  found->second.invokable = false;
  enabling_.push_back(id);
}

}  // namespace fermata::models
