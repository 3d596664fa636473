// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who waits for what, and whether anything can still happen: the condition of a deadlock, from what
// the program did alone (CORE-SC-10).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "properties/models/complaint.hpp"

namespace fermata::models {

/// What one coroutine waits for. Events are serial numbers.
class WaitModel {
 public:
  void begin(std::vector<std::uint64_t> events, bool only_close) {
    events_ = std::move(events);
    only_close_ = only_close;
    waiting_ = true;
    answered_ = false;
  }
  void end() {
    waiting_ = false;
    events_.clear();
  }
  /// `event` told its subscribers something; `closed` when that was its last word.
  void fired(std::uint64_t event, bool closed) {
    if (!waiting_ || (only_close_ && !closed)) return;
    if (std::find(events_.begin(), events_.end(), event) != events_.end()) answered_ = true;
  }
  [[nodiscard]] bool waiting() const { return waiting_; }
  /// What it waited for has happened: it must run again.
  [[nodiscard]] bool answered() const { return waiting_ && answered_; }

 private:
  std::vector<std::uint64_t> events_;
  bool only_close_ = false;
  bool waiting_ = false;
  bool answered_ = false;
};

/// Judges the report of a deadlock: `waits` of all that live, and how many visible events could
/// still happen.
inline Complaint judge_deadlock(const std::vector<const WaitModel*>& waits, std::size_t active) {
  if (active > 0) {
    return "CORE-SC-10 (DL+): a deadlock was reported while " + std::to_string(active) +
           " visible events could still happen";
  }
  for (const WaitModel* wait : waits) {
    if (!wait->waiting()) {
      return "CORE-SC-10 (DL+): a deadlock was reported while a coroutine could run";
    }
    if (wait->answered()) {
      return "CORE-SC-10 (WAKE): a deadlock was reported though what a coroutine waits for has "
             "happened";
    }
  }
  return {};
}

}  // namespace fermata::models
