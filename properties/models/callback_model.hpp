// SPDX-License-Identifier: Apache-2.0
#pragma once

// The subscribers of one event, as CORE-CB promises them: a list of numbers, searched from end to
// end. What the vector does with slots, gaps and cursors does not exist here.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "properties/models/complaint.hpp"

namespace fermata::models {

class CallbackModel {
 public:
  using Id = std::uint32_t;

  void add(Id id) { subscribed_.push_back(id); }

  /// Returns whether it was subscribed.
  bool remove(Id id) {
    if (!erase(subscribed_, id)) return false;
    erase(pending_, id);
    const bool own_turn = in_pass_ && running_ == id;
    if (!own_turn) ordered_ = false;
    if (subscribed_.empty()) ordered_ = true;
    return true;
  }

  /// Somebody who is not modelled left the event out of turn: the others may have moved.
  void stranger_left() {
    if (!subscribed_.empty()) ordered_ = false;
  }

  void clear() {
    subscribed_.clear();
    pending_.clear();
    ordered_ = true;
  }

  Complaint begin_pass() {
    Complaint unfinished = end_pass();
    in_pass_ = true;
    running_ = kNobody;
    pending_ = subscribed_;
    called_.clear();
    return unfinished;
  }

  Complaint call(Id id) {
    const bool in_turn = !pending_.empty() && pending_.front() == id;
    if (!in_pass_) return "CORE-CB-01 (ONCE): " + text(id) + " was called outside of any pass";
    if (contains(called_, id)) return "CORE-CB-01 (ONCE): " + text(id) + " was called twice";
    if (!erase(pending_, id)) {
      return contains(subscribed_, id)
                 ? "CORE-CB-03 (ONCE): " + text(id) + " was called in the pass it was added in"
                 : "CORE-CB-02 (ONCE): " + text(id) + " was called after its removal";
    }
    called_.push_back(id);
    running_ = id;
    if (ordered_ && !in_turn) {
      return "CORE-CB-11 (ORDER): " + text(id) + " was called before one subscribed earlier";
    }
    return {};
  }

  void returned() { running_ = kNobody; }

  Complaint end_pass() {
    if (!in_pass_) return {};
    in_pass_ = false;
    if (pending_.empty()) return {};
    return "CORE-CB-01 (WAKE): " + text(pending_.front()) + ", there when the pass began, and " +
           std::to_string(pending_.size() - 1) + " others were not called";
  }

  [[nodiscard]] bool in_pass() const { return in_pass_; }
  [[nodiscard]] std::size_t size() const { return subscribed_.size(); }
  [[nodiscard]] bool has(Id id) const { return contains(subscribed_, id); }
  [[nodiscard]] const std::vector<Id>& subscribed() const { return subscribed_; }

 private:
  static constexpr Id kNobody = ~Id{0};

  static bool contains(const std::vector<Id>& ids, Id id) {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
  }
  static bool erase(std::vector<Id>& ids, Id id) {
    const auto at = std::find(ids.begin(), ids.end(), id);
    if (at == ids.end()) return false;
    ids.erase(at);
    return true;
  }
  static std::string text(Id id) { return "callback " + std::to_string(id); }

  std::vector<Id> subscribed_;  // In the order of subscription.
  std::vector<Id> pending_;     // In this pass.
  std::vector<Id> called_;      // In this pass.
  Id running_ = kNobody;
  bool in_pass_ = false;
  bool ordered_ = true;  // Nobody has left out of turn since the first one came.
};

}  // namespace fermata::models
