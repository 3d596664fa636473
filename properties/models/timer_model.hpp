// SPDX-License-Identifier: Apache-2.0
#pragma once

// Armed timers in a plain list: never early, never after a stop, the earliest first and equal ones
// in the order of arming; and none in the turn in which it is armed, or nothing else would happen.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "fermata/base/time.hpp"
#include "properties/models/complaint.hpp"

namespace fermata::models {

class TimerModel {
 public:
  void arm(std::uint64_t timer, Instant deadline) {
    armed_.push_back({timer, deadline, next_sequence_++});
  }
  /// The reactor looks at what is due.
  void turn() { before_turn_ = next_sequence_; }
  void disarm(std::uint64_t timer) {
    const auto at = find(timer);
    if (at != armed_.end()) armed_.erase(at);
  }
  /// A one-shot closes right before it fires.
  void close(std::uint64_t timer) {
    const auto at = find(timer);
    if (at == armed_.end()) return;
    closing_ = *at;
    armed_.erase(at);
  }

  Complaint fire(std::uint64_t timer, Instant now) {
    const std::string name = "timer " + std::to_string(timer);
    const auto at = find(timer);
    if (at == armed_.end() && closing_.timer != timer) {
      return "CORE-EV-16 (TIME): " + name + " fired though it was stopped";
    }
    const Armed fired = at == armed_.end() ? closing_ : *at;
    if (at != armed_.end()) armed_.erase(at);
    closing_ = {};
    if (now < fired.deadline) {
      return "TMR-01 (TIME): " + name + " fired " + std::to_string((fired.deadline - now).count()) +
             " ns early";
    }
    if (fired.sequence >= before_turn_) {
      return "FAIR: " + name + " fired in the turn in which it was armed";
    }
    for (const Armed& other : armed_) {
      if (other.deadline < fired.deadline ||
          (other.deadline == fired.deadline && other.sequence < fired.sequence)) {
        return "TMR-04 (TIME): " + name + " fired before timer " + std::to_string(other.timer) +
               ", which was due first";
      }
    }
    return {};
  }

 private:
  struct Armed {
    std::uint64_t timer = 0;
    Instant deadline;
    std::uint64_t sequence = 0;
  };
  std::vector<Armed>::iterator find(std::uint64_t timer) {
    return std::find_if(armed_.begin(), armed_.end(),
                        [&](const Armed& one) { return one.timer == timer; });
  }
  std::vector<Armed> armed_;
  Armed closing_;  // The last one that closed while it was armed.
  std::uint64_t next_sequence_ = 0;
  std::uint64_t before_turn_ = 0;  // What is armed from here on waits for the next one.
};

}  // namespace fermata::models
