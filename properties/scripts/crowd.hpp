// SPDX-License-Identifier: Apache-2.0
#pragma once

// Timers beside a script, so that its own stand among few, ten or sixty: what keeps them has a
// second level, and a third. Nobody waits for them; some stop others when they fire.

#include <cstddef>
#include <vector>

#include "fermata/runtime.hpp"

namespace fermata::properties {

class Stage;

/// How many draws there are of a crowd; one in sixteen is large.
inline constexpr unsigned kCrowds = 4096;

/// How many timers a draw stands for.
[[nodiscard]] std::size_t size_of_crowd(unsigned draw);

class Crowd {
 public:
  /// Arms them. `stage` is told when one fires after a later one.
  Crowd(Stage& stage, unsigned draw);
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;
  ~Crowd() = default;

 private:
  void fired(std::size_t index, Instant due);

  Stage& stage_;
  unsigned draw_;
  std::vector<Ref<Timer>> timers_;
  std::vector<Subscription> hears_;
  Instant latest_;  // The latest deadline of a timer that has fired.
};

}  // namespace fermata::properties
