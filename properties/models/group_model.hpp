// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a group of tasks promises, by what its tasks and its users see.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "properties/models/complaint.hpp"

namespace fermata::models {

class GroupModel {
 public:
  /// `limit` of tasks that run at a time; 0 for none.
  explicit GroupModel(std::size_t limit) : limit_(limit) {}

  /// A spawn has returned; its task is number `key`.
  void accepted(std::uint64_t key) { accepted_.push_back(key); }
  void close() { closed_ = true; }
  void cancel() {
    closed_ = true;
    cancelled_ = true;
  }

  [[nodiscard]] Complaint began(std::uint64_t key) {
    ++running_;
    if (limit_ > 0 && running_ > limit_) {
      return "TG-01 (CAP): " + std::to_string(running_) + " tasks run, at most " +
             std::to_string(limit_) + " may";
    }
    if (std::find(begun_.begin(), begun_.end(), key) != begun_.end()) {
      return "TG-03 (ONCE): task " + std::to_string(key) + " runs twice";
    }
    begun_.push_back(key);
    return cancelled_ ? "TG-09 (CANC): a task begins after the group was cancelled" : Complaint();
  }
  void ended() {
    --running_;
    ++ended_;
  }
  /// Tasks that were accepted, and whose bodies have not ended; while the group is not cancelled.
  [[nodiscard]] std::size_t unfinished() const { return accepted_.size() - ended_; }
  /// Whether a consumer finds something, while none is on its way with it.
  [[nodiscard]] bool has_something() const { return ended_ > delivered_.size() + together_; }

  /// A view has the keys of all tasks that have settled, in the order of spawn.
  [[nodiscard]] static Complaint in_order(const std::vector<std::uint64_t>& keys) {
    if (std::adjacent_find(keys.begin(), keys.end(), std::greater_equal<>()) == keys.end()) {
      return {};
    }
    return "TG-04 (FIFO): the results are not in the order of spawn";
  }
  /// A consumer has got this one, for good.
  [[nodiscard]] Complaint delivered(std::uint64_t key) {
    if (std::find(delivered_.begin(), delivered_.end(), key) != delivered_.end()) {
      return "TG-15 (ONCE): task " + std::to_string(key) + " is delivered twice";
    }
    delivered_.push_back(key);
    return {};
  }
  /// Some failures were delivered together.
  void delivered_together(std::size_t count) { together_ += count; }
  /// `left` are what is in the set still.
  [[nodiscard]] Complaint conserved(std::size_t left) const {
    const std::size_t delivered = delivered_.size() + together_;
    if (accepted_.size() == delivered + left) return {};
    return "TG-15 (VAL): " + std::to_string(accepted_.size()) + " tasks were accepted, " +
           std::to_string(delivered) + " delivered, and " + std::to_string(left) + " are left";
  }
  [[nodiscard]] bool is_closed() const { return closed_; }
  [[nodiscard]] bool is_cancelled() const { return cancelled_; }

 private:
  std::size_t limit_;
  std::vector<std::uint64_t> accepted_;
  std::vector<std::uint64_t> begun_;
  std::vector<std::uint64_t> delivered_;
  std::size_t together_ = 0;
  std::size_t running_ = 0;
  std::size_t ended_ = 0;
  bool closed_ = false;
  bool cancelled_ = false;
};

}  // namespace fermata::models
