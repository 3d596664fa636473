// SPDX-License-Identifier: Apache-2.0
#include "properties/scripts/crowd.hpp"

#include <chrono>

#include "fermata/sim/base/key.hpp"
#include "properties/scripts/stage.hpp"

namespace fermata::properties {

std::size_t size_of_crowd(unsigned draw) {
  switch (draw % 16) {
    case 15:
      return 60;
    case 14:
      return 10;
    default:
      return 0;
  }
}

Crowd::Crowd(Stage& stage, unsigned draw) : stage_(stage), draw_(draw), latest_(now()) {
  const std::size_t size = size_of_crowd(draw);
  for (std::size_t i = 0; i < size; ++i) {
    const std::chrono::milliseconds span(1 + sim::key_of(draw, i) % 40);
    timers_.push_back(make_timer(current_runtime(), span));
    hears_.push_back(subscribe(
        *timers_.back(), [this, i, due = now() + span](Event&, const Outcome&) { fired(i, due); }));
    timers_.back()->start();
  }
}

void Crowd::fired(std::size_t index, Instant due) {
  if (due < latest_) stage_.complain("TMR-04 (TIME): a timer fired after a later one");
  latest_ = due;
  if (index % 2 == 0) timers_[sim::key_of(draw_ + 1, index) % timers_.size()]->stop();
}

}  // namespace fermata::properties
