// SPDX-License-Identifier: Apache-2.0
#pragma once

// What may happen to one coroutine, in which order and how often, and which cancellations it still
// has to be told of (CORE-CO-10).

#include <cstdint>
#include <string>

#include "properties/models/complaint.hpp"

namespace fermata::models {

class LifecycleModel {
 public:
  // --- life ---

  Complaint entered() {
    if (finished_) return "CORE-CO-01 (ONCE): the body ran after the end";
    if (doomed_) return "CORE-CO-03 (CANC): the body ran though it was cancelled before its start";
    if (started_) return "CORE-CO-01 (ONCE): the body was entered twice";
    started_ = true;
    return {};
  }
  Complaint finished() {
    if (finished_) return "CORE-CO-01 (ONCE): it was finalized twice";
    finished_ = true;
    return {};
  }
  void register_finally() { ++finally_registered_; }
  Complaint ran_finally(std::uint32_t position) {
    if (!finished_) return "CORE-CO-07 (SHUT): a finally handler ran before the end";
    if (position != finally_started_) return "CORE-CO-07 (ORDER): finally handlers out of order";
    ++finally_started_;
    return {};
  }
  void observed_end() { ++ends_observed_; }

  // --- cancellation ---

  enum class By : std::uint8_t { Itself, Another };

  void cancelled(By by) {
    if (finished_) return;
    if (!started_) {
      doomed_ = true;
    } else if (by == By::Itself) {
      due_from_itself_ = true;
    } else {
      due_ = true;
    }
  }
  /// Its next suspension point has no choice: it must throw.
  [[nodiscard]] bool must_throw() const { return due_from_itself_; }

  /// A cancellation was thrown at a suspension point, `excused` when something else explains it.
  Complaint told(bool excused) {
    if (due_) {
      due_ = false;
    } else if (due_from_itself_) {
      due_from_itself_ = false;
    } else if (!excused) {
      return "CORE-CO-05 (CANC): it was told of a cancellation that nobody asked for";
    }
    return {};
  }
  /// What was thrown is the outcome of another coroutine, or of a token.
  Complaint told_of_another() const {
    if (due_) return "CORE-CO-05 (CANC): its cancellation gave way to one that is not its own";
    return {};
  }
  /// A suspension point returned as if nothing had happened.
  Complaint went_on() {
    if (due_) return "CORE-CO-05 (CANC): a cancellation was swallowed: its wait went on";
    return {};
  }
  // --- the end ---

  Complaint settled(bool unwound) const {
    if (!finished_) return "CORE-CO-01 (SHUT): it never ended";
    if (ends_observed_ != 1) {
      return "CORE-CO-18 (WAKE): its subscriber was called " + std::to_string(ends_observed_) +
             " times at its end";
    }
    if (!unwound && finally_started_ != finally_registered_) {
      return "CORE-CO-07 (SHUT): " + std::to_string(finally_registered_) +
             " finally handlers were registered, " + std::to_string(finally_started_) + " ran";
    }
    return {};
  }

  [[nodiscard]] bool is_started() const { return started_; }
  [[nodiscard]] bool is_finished() const { return finished_; }
  [[nodiscard]] std::uint32_t finally_registered() const { return finally_registered_; }

 private:
  bool started_ = false;
  bool finished_ = false;
  bool doomed_ = false;  // Cancelled before its start: the body must not run.
  bool due_ = false;     // Another cancelled it, and it does not know yet.
  bool due_from_itself_ = false;
  std::uint32_t finally_registered_ = 0;
  std::uint32_t finally_started_ = 0;
  std::uint32_t ends_observed_ = 0;
};

}  // namespace fermata::models
