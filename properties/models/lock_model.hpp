// SPDX-License-Identifier: Apache-2.0
#pragma once

// What locks promise: at most so many inside, done at most once, nobody goes on alone.

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "properties/models/complaint.hpp"

namespace fermata::models {

/// A number of permits, of which each actor inside holds some.
class PermitModel {
 public:
  explicit PermitModel(std::size_t permits) : permits_(permits) {}

  [[nodiscard]] Complaint taken(std::size_t who, std::size_t count) {
    inside_ += count;
    if (inside_ <= permits_) return {};
    return "CAP (mutual exclusion): with " + std::to_string(who) + " inside " +
           std::to_string(inside_) + " permits of " + std::to_string(permits_) + " are taken";
  }
  void given_back(std::size_t count) { inside_ -= count; }
  /// How many nobody holds; of these some may be promised to who comes back for them.
  [[nodiscard]] std::size_t spare() const { return permits_ - std::min(inside_, permits_); }

  /// `available` is what the primitive says that nobody has.
  [[nodiscard]] Complaint recount(std::size_t available) const {
    if (inside_ + available == permits_) return {};
    return "CAP (permits conserved): " + std::to_string(inside_) + " are taken and " +
           std::to_string(available) + " available, of " + std::to_string(permits_);
  }

 private:
  std::size_t permits_;
  std::size_t inside_ = 0;
};

/// Something that is done once.
class OnceModel {
 public:
  [[nodiscard]] Complaint begun() {
    if (done_) return "ONCE: it is done again";
    if (running_) return "ONCE: two do it at a time";
    running_ = true;
    return {};
  }
  void ended(bool success) {
    running_ = false;
    done_ = success;
  }
  [[nodiscard]] bool is_done() const { return done_; }
  /// A call has come back without an error.
  [[nodiscard]] Complaint returned() const {
    return done_ ? Complaint() : "ONCE: a call has returned before it was done";
  }

 private:
  bool running_ = false;
  bool done_ = false;
};

/// Parties that wait for each other; a round ends complete, or broken.
class BarrierModel {
 public:
  explicit BarrierModel(std::size_t parties) : parties_(parties), rounds_(1) {}

  /// The round that the party has arrived in. REQUIRES: not broken.
  [[nodiscard]] std::size_t arrived() {
    const std::size_t mine = rounds_.size() - 1;
    if (++rounds_[mine].arrived == parties_) end(true);
    return mine;
  }
  /// The wait of a party ended before it could go on.
  void gave_up(std::size_t round) {
    if (round + 1 != rounds_.size()) return;
    end(false);
    broken_ = true;
  }
  void reset() {
    end(false);
    broken_ = false;
  }

  [[nodiscard]] Complaint passed(std::size_t round) const {
    if (rounds_[round].complete) return {};
    return "BARRIER: a party went on though " + std::to_string(rounds_[round].arrived) + " of " +
           std::to_string(parties_) + " have arrived";
  }
  [[nodiscard]] Complaint refused(std::size_t round) const {
    if (!rounds_[round].complete && round + 1 != rounds_.size()) return {};
    return "BARRIER: a party was told that it is broken, and it is not";
  }
  [[nodiscard]] bool is_broken() const { return broken_; }
  [[nodiscard]] std::size_t waiting() const { return rounds_.back().arrived; }
  /// Whether one more makes the round complete.
  [[nodiscard]] bool wants_one() const { return waiting() + 1 == parties_; }

 private:
  struct Round {
    std::size_t arrived = 0;
    bool complete = false;
  };
  void end(bool complete) {
    rounds_.back().complete = complete;
    rounds_.emplace_back();
  }

  std::size_t parties_;
  std::vector<Round> rounds_;
  bool broken_ = false;
};

}  // namespace fermata::models
