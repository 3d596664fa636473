// SPDX-License-Identifier: Apache-2.0
#pragma once

// An event loop in plain lists, with a clock of its own: the tick, step by step, as the contract
// has it. Time passes in waits and in sleeps only.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "properties/models/loop_script.hpp"

namespace fermata::models {

class LoopModel {
 public:
  explicit LoopModel(const LoopScript& script) : script_(script) {}

  /// What happens, in order, one word each.
  std::vector<std::string> play() {
    for (const LoopCall& before : script_.before_runs) {
      act(before, 0);
      register_callback(Kind::Guard, kGuardSpan);
      guard_ = next_id_ - 1;
      set_referenced(guard_, false);
      const bool failed = run();
      note(failed ? "error" : stop_ ? "stopped" : "empty");
      cancel(guard_);
    }
    return std::move(log_);
  }

  static constexpr unsigned kGuardSpan = 1000;

 private:
  enum class Kind { Defer, Delay, Repeat, Notice, Guard };
  struct Callback {
    Kind kind;
    std::uint64_t span;
    std::uint64_t deadline;
    std::uint64_t arming = 0;
    bool enabled = true;
    bool referenced = true;
    bool invokable = false;
    bool pending = false;

    [[nodiscard]] bool timed() const {
      return kind == Kind::Delay || kind == Kind::Repeat || kind == Kind::Guard;
    }
  };
  using Ids = std::deque<std::uint64_t>;

  void note(const std::string& what) { log_.push_back(what + "@" + std::to_string(now_)); }

  // --- registering and control ---

  void register_callback(Kind kind, std::uint64_t span) {
    callbacks_.emplace(next_id_, Callback{kind, span, now_ + span});
    enabling_.push_back(next_id_++);
  }

  void forget_events(std::uint64_t id) {
    for (Ids* ids : {&enabling_, &ready_}) std::erase(*ids, id);
    Callback& callback = callbacks_.at(id);
    callback.invokable = callback.pending = false;
  }

  void disable(std::uint64_t id) {
    const auto found = callbacks_.find(id);
    if (found == callbacks_.end() || !found->second.enabled) return;
    found->second.enabled = false;
    forget_events(id);
  }

  void enable(std::uint64_t id) {
    const auto found = callbacks_.find(id);
    if (found == callbacks_.end()) return note("unknown " + std::to_string(id));
    Callback& callback = found->second;
    if (callback.enabled) return;
    callback.enabled = true;
    callback.deadline = now_ + callback.span;
    enabling_.push_back(id);
  }

  void set_referenced(std::uint64_t id, bool referenced) {
    const auto found = callbacks_.find(id);
    if (found != callbacks_.end()) {
      found->second.referenced = referenced;
    } else if (referenced) {
      note("unknown " + std::to_string(id));
    }
  }

  void cancel(std::uint64_t id) {
    if (callbacks_.find(id) == callbacks_.end()) return;
    forget_events(id);
    callbacks_.erase(id);
  }

  // --- deeds; true when they end with a throw ---

  bool act(const LoopCall& call, std::uint64_t self) {
    bool throws = false;
    for (const LoopAct& act : call) {
      const std::uint64_t id = next_id_ == 1 ? 1 : 1 + act.subject % (next_id_ - 1);
      if (id == guard_ && act.deed >= LoopDeed::Cancel && act.deed <= LoopDeed::Notify) continue;
      switch (act.deed) {
        case LoopDeed::Queue:
          microtasks_.push_back(next_task_++);
          break;
        case LoopDeed::Defer:
          register_callback(Kind::Defer, 0);
          break;
        case LoopDeed::Delay:
          register_callback(Kind::Delay, act.span);
          break;
        case LoopDeed::Repeat:
          register_callback(Kind::Repeat, act.span);
          break;
        case LoopDeed::Notice:
          register_callback(Kind::Notice, 0);
          break;
        case LoopDeed::Cancel:
          cancel(id);
          break;
        case LoopDeed::Disable:
          disable(id);
          break;
        case LoopDeed::Enable:
          enable(id);
          break;
        case LoopDeed::Reference:
          set_referenced(id, true);
          break;
        case LoopDeed::Unreference:
          set_referenced(id, false);
          break;
        case LoopDeed::Notify: {
          const auto found = callbacks_.find(id);
          if (found != callbacks_.end() && found->second.enabled &&
              found->second.kind == Kind::Notice) {
            found->second.pending = true;
          }
          break;
        }
        case LoopDeed::Stop:
          stop_ = stop_ || running_;
          break;
        case LoopDeed::Throw:
          throws = self != 0;
          break;
        case LoopDeed::Sleep:
          if (self == 0) now_ += act.span;
          break;
      }
    }
    return throws;
  }

  /// The next call, whoever it is; true when it throws.
  bool call(std::uint64_t self) {
    if (next_call_ < script_.calls.size()) return act(script_.calls[next_call_++], self);
    if (self != kMicrotask) cancel(self);
    return false;
  }

  // --- the tick ---

  [[nodiscard]] bool empty() const {
    return std::none_of(callbacks_.begin(), callbacks_.end(), [](const auto& each) {
      return each.second.enabled && each.second.referenced;
    });
  }

  /// True when something has thrown.
  bool drain() {
    for (;;) {
      if (!microtasks_.empty()) {
        const std::uint64_t task = microtasks_.front();
        microtasks_.pop_front();
        note("task " + std::to_string(task));
        if (call(kMicrotask)) return true;
      } else if (!ready_.empty()) {
        const std::uint64_t id = ready_.front();
        ready_.pop_front();
        if (invoke(id)) return true;
      } else {
        return false;
      }
    }
  }

  bool invoke(std::uint64_t id) {
    Callback& callback = callbacks_.at(id);
    callback.pending = false;
    const Kind kind = callback.kind;
    if (kind == Kind::Repeat) {
      callback.invokable = false;
      callback.deadline = now_ + callback.span;
      enabling_.push_back(id);
    } else if (kind == Kind::Defer || kind == Kind::Delay || kind == Kind::Guard) {
      cancel(id);
    }
    if (kind == Kind::Guard) {
      note("guard");
      stop_ = true;
      return false;
    }
    note("call " + std::to_string(id));
    return call(id);
  }

  void activate() {
    for (const std::uint64_t id : std::exchange(enabling_, {})) {
      Callback& callback = callbacks_.at(id);
      callback.invokable = true;
      if (callback.timed()) callback.arming = next_arming_++;
      if (callback.kind == Kind::Defer) ready_.push_back(id);
    }
  }

  void wait() {
    std::uint64_t earliest = std::numeric_limits<std::uint64_t>::max();
    for (const auto& [id, callback] : callbacks_) {
      if (callback.invokable && callback.pending) return;
      if (callback.invokable && callback.timed()) earliest = std::min(earliest, callback.deadline);
    }
    const bool never = earliest == std::numeric_limits<std::uint64_t>::max();
    const bool at_once = stop_ || empty() || !enabling_.empty() || never;
    if (!at_once) now_ = std::max(now_, earliest);
  }

  void collect() {
    Ids due;
    for (const auto& [id, callback] : callbacks_) {
      const bool timer_due = callback.timed() && callback.deadline <= now_;
      if (callback.invokable && (timer_due || callback.pending)) due.push_back(id);
    }
    const auto rank = [](const Callback& callback) { return callback.timed() ? 0 : 1; };
    std::stable_sort(due.begin(), due.end(), [&](std::uint64_t a, std::uint64_t b) {
      const Callback& left = callbacks_.at(a);
      const Callback& right = callbacks_.at(b);
      if (rank(left) != rank(right)) return rank(left) < rank(right);
      if (!left.timed()) return false;
      return left.deadline != right.deadline ? left.deadline < right.deadline
                                             : left.arming < right.arming;
    });
    ready_.insert(ready_.end(), due.begin(), due.end());
  }

  bool run() {
    stop_ = false;
    running_ = true;
    const bool failed = ticks();
    running_ = false;
    return failed;
  }

  bool ticks() {
    if (drain()) return true;
    while (!stop_ && !empty()) {
      activate();
      if (drain()) return true;
      wait();
      collect();
      if (drain()) return true;
    }
    return false;
  }

  static constexpr std::uint64_t kMicrotask = ~0ULL;

  const LoopScript& script_;
  std::map<std::uint64_t, Callback> callbacks_;
  Ids enabling_;
  Ids ready_;
  Ids microtasks_;
  std::uint64_t next_id_ = 1;
  std::uint64_t next_task_ = 1;
  std::uint64_t guard_ = 0;  // Of the run: what ends it in any case, out of the script's reach.
  std::uint64_t next_arming_ = 0;
  std::uint64_t now_ = 0;
  std::size_t next_call_ = 0;
  bool stop_ = false;
  bool running_ = false;
  std::vector<std::string> log_;
};

}  // namespace fermata::models
