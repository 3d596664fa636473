// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where each resource of a pool is, and who stands in line for one. The counters of the pool follow
// from it.

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "properties/models/complaint.hpp"

namespace fermata::models {

class PoolModel {
 public:
  PoolModel(std::size_t min, std::size_t max) : min_(min), max_(max) {}

  // --- the line ---

  void arrived(std::size_t who) { line_.push_back(who); }
  void left(std::size_t who) {
    line_.erase(std::remove(line_.begin(), line_.end(), who), line_.end());
  }
  /// Everybody in line is told that there is nothing to wait for.
  void dismissed() { line_.clear(); }

  /// `who` has a place from here on. Nobody who came before may sleep on, or find its place gone:
  /// `sleeps(other)` and `promised(other)` say how others stand. No effect the second time.
  template <class Sleeps, class Promised>
  [[nodiscard]] Complaint took_place(std::size_t who, Sleeps sleeps, Promised promised) {
    const auto me = std::find(line_.begin(), line_.end(), who);
    if (me == line_.end()) return {};
    Complaint complaint;
    std::size_t owed = 0;
    for (auto other = line_.begin(); other != line_.end(); ++other) {
      if (other < me && sleeps(*other)) {
        complaint = "POOL-05 (FIFO): " + std::to_string(who) + " got a place before " +
                    std::to_string(*other) + ", which waited first";
      }
      if (other != me && promised(*other)) ++owed;
    }
    if (owed + active_count() + 1 > max_) {
      complaint = "POOL-05 (FAIR): " + std::to_string(who) +
                  " took a place that was promised: " + std::to_string(owed) + " of " +
                  std::to_string(max_) + " are owed to others, " + std::to_string(active_count()) +
                  " in use";
    }
    line_.erase(me);
    return complaint;
  }

  /// Whether nobody can get a place before somebody gives one back.
  [[nodiscard]] bool all_in_use() const { return active_count() >= max_; }

  // --- resources ---

  [[nodiscard]] Complaint making() {
    ++making_;
    if (idle_.size() + active_count() <= max_) return {};
    return "POOL-19 (CAP): resource " + std::to_string(resources_.size() + making_) +
           " is made, at most " + std::to_string(max_) + " may live";
  }
  void not_made() { --making_; }
  /// For somebody who acquires, or else to be idle.
  void made(int id, bool for_somebody) {
    --making_;
    resources_[id] = {};
    settle(id, for_somebody ? State::Offered : State::Idle);
  }

  /// One that was used before is about to be handed out, or looked at.
  [[nodiscard]] Complaint taken_from_idle(int id) {
    const Complaint complaint = oldest_is(id);
    remove_idle(id);
    resources_[id].state = State::Busy;
    return complaint;
  }
  /// The hook has accepted it, or not.
  void judged_for_use(int id, bool accepted) {
    settle(id, accepted ? State::Offered : State::Doomed);
  }
  void judged_for_rest(int id, bool accepted) {
    settle(id, accepted ? State::Idle : State::Doomed);
  }

  [[nodiscard]] Complaint handed_out(int id, std::size_t who) {
    Complaint complaint;
    if (closed_) {
      complaint = "POOL-12 (SHUT): " + name_of(id) + " was handed out by a closed pool";
    } else if (resources_.count(id) == 0) {
      complaint = "POOL-04 (ISO): " + name_of(id) + " was handed out after its end";
    } else if (resources_[id].state == State::Idle) {
      complaint = oldest_is(id);
      remove_idle(id);
    } else if (resources_[id].state != State::Offered) {
      complaint = where(id, "was handed out");
    }
    resources_[id] = {State::Held, who};
    return complaint;
  }

  [[nodiscard]] Complaint given_back(int id, bool broken, bool asks_hook) {
    const State before = resources_[id].state;
    settle(id, broken ? State::Doomed : asks_hook ? State::Returned : State::Idle);
    return before == State::Held ? "" : where(id, "was given back");
  }
  [[nodiscard]] Complaint asked_at_return(int id) {
    const State before = std::exchange(resources_[id].state, State::Busy);
    if (before == State::Returned) return {};
    return "POOL-10 (ONCE): the hook of a release saw " + name_of(id) + ", which was not released";
  }

  [[nodiscard]] Complaint ending(int id) {
    const auto found = resources_.find(id);
    if (found == resources_.end() || found->second.state == State::Ending) {
      return "POOL-04 (ONCE): " + name_of(id) + " is destroyed twice";
    }
    const Complaint complaint =
        found->second.state == State::Doomed ? "" : where(id, "is destroyed");
    remove_idle(id);
    found->second.state = State::Ending;
    return complaint;
  }
  void ended(int id) { resources_.erase(id); }

  void closed() {
    closed_ = true;
    for (const int id : std::exchange(idle_, {})) resources_[id].state = State::Doomed;
  }
  [[nodiscard]] bool is_closed() const noexcept { return closed_; }

  // --- what the pool says of itself ---

  [[nodiscard]] Complaint recount(std::size_t idle, std::size_t active, std::size_t reserved,
                                  std::size_t waiting) const {
    if (idle != idle_.size()) return differs("POOL-03 (REF)", "idle", idle_.size(), idle);
    if (active != this->active_count()) {
      return differs("POOL-01 (REF)", "active", this->active_count(), active);
    }
    if (reserved + waiting != line_.size()) {
      return differs("POOL-02 (REF)", "in line", line_.size(), reserved + waiting);
    }
    if (reserved + active > max_) {
      return "POOL-21 (CAP): " + std::to_string(reserved) + " places are promised beside " +
             std::to_string(active) + " in use, there are " + std::to_string(max_);
    }
    return {};
  }

  /// Nothing can happen any more. With `upkeep` whatever is missing has been made up for.
  [[nodiscard]] Complaint at_rest(std::size_t waiting, bool open, bool upkeep) const {
    if (waiting > 0 && !open) return "POOL-16 (WAKE): somebody waits though nobody is let in";
    if (waiting > 0 && active_count() < max_) {
      return "POOL-07 (WAKE): " + std::to_string(waiting) + " wait, but only " +
             std::to_string(active_count()) + " of " + std::to_string(max_) + " places are in use";
    }
    if (upkeep && resources_.size() < min_) {
      return "POOL-14 (SHUT): there are " + std::to_string(resources_.size()) +
             " resources, fewer than " + std::to_string(min_);
    }
    return {};
  }

  /// The pool is closed and everybody has given back.
  [[nodiscard]] Complaint at_end() const {
    if (resources_.empty() && making_ == 0) return {};
    return "POOL-04 (REF): " + std::to_string(resources_.size()) +
           " resources were never destroyed";
  }

 private:
  enum class State { Idle, Busy, Offered, Held, Returned, Doomed, Ending };
  struct Resource {
    State state = State::Busy;
    std::size_t holder = 0;
  };

  [[nodiscard]] std::size_t active_count() const {
    return resources_.size() - idle_.size() + making_;
  }

  void settle(int id, State state) {
    if (closed_ && state != State::Returned) state = State::Doomed;
    resources_[id].state = state;
    if (state == State::Idle) idle_.push_back(id);
  }
  void remove_idle(int id) {
    idle_.erase(std::remove(idle_.begin(), idle_.end(), id), idle_.end());
  }

  [[nodiscard]] Complaint oldest_is(int id) const {
    if (!idle_.empty() && idle_.front() == id) return {};
    const bool idle = std::find(idle_.begin(), idle_.end(), id) != idle_.end();
    if (!idle) return where(id, "was taken");
    return "POOL-17 (FIFO): " + name_of(id) + " was taken, but " + name_of(idle_.front()) +
           " has been idle longer";
  }
  [[nodiscard]] Complaint where(int id, const char* what) const {
    static constexpr const char* kPlaces[] = {"idle",     "in a hook", "on its way to somebody",
                                              "in use",   "returned",  "about to be destroyed",
                                              "destroyed"};
    const auto found = resources_.find(id);
    const char* place =
        found == resources_.end() ? "gone" : kPlaces[static_cast<int>(found->second.state)];
    return "POOL-03 (ISO): " + name_of(id) + " " + what + " while it was " + place;
  }
  static std::string name_of(int id) { return "resource " + std::to_string(id); }
  static Complaint differs(const char* rule, const char* what, std::size_t here,
                           std::size_t there) {
    return std::string(rule) + ": " + std::to_string(here) + " are " + what +
           ", but the pool counts " + std::to_string(there);
  }

  std::size_t min_;
  std::size_t max_;
  std::vector<std::size_t> line_;  // Whoever acquires and has no place, in the order of arrival.
  std::map<int, Resource> resources_;
  std::vector<int> idle_;  // In the order of their return.
  std::size_t making_ = 0;
  bool closed_ = false;
};

}  // namespace fermata::models
