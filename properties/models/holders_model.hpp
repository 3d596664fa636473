// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who holds a reference to an event: its creator, other parts of the program, waits. It dies with
// the last holder, not before and not later.

#include <cstdint>
#include <string>

#include "properties/models/complaint.hpp"

namespace fermata::models {

class HoldersModel {
 public:
  void hold() { ++by_program_; }
  void drop() { --by_program_; }
  void died() { dead_ = true; }

  /// At rest: `by_waits` waits hold the event, `counted` references are what it believes.
  [[nodiscard]] Complaint compare(std::uint32_t by_waits, std::uint32_t counted) const {
    if (counted == by_program_ + by_waits) return {};
    return "CORE-EV-09 (REF): " + std::to_string(by_program_) + " references by the program and " +
           std::to_string(by_waits) + " by waits, but the event counts " + std::to_string(counted);
  }
  /// At rest: whether it is alive or dead as it should be.
  [[nodiscard]] Complaint compare_life(std::uint32_t by_waits) const {
    const bool held = by_program_ + by_waits > 0;
    if (held && dead_) return "CORE-EV-09 (UAF): an event that somebody holds was disposed";
    if (!held && !dead_) return "CORE-EV-10 (REF): an event that nobody holds was not disposed";
    return {};
  }

 private:
  std::uint32_t by_program_ = 0;
  bool dead_ = false;
};

}  // namespace fermata::models
