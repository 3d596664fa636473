// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "fermata/core/event.hpp"
#include "fermata/sim/machine/machine.hpp"
#include "fermata/sim/machine/member_happening.hpp"
#include "fermata/sim/machine/node_clock.hpp"

namespace fermata::sim::detail {

/// While it lives, an event fires whenever the machine's wall clock is set, in a later turn of the
/// reactor: who waits for it until a time of that clock has to find out anew for how long. Lives in
/// the frame of the coroutine that waits.
class ClockNews final : private WallClockWatcher {
 public:
  ClockNews(Machine& machine, Event& event) : machine_(machine), event_(event), telling_(*this) {
    machine_.clock().add(*this);
  }
  ClockNews(const ClockNews&) = delete;
  ClockNews& operator=(const ClockNews&) = delete;
  ~ClockNews() { machine_.clock().remove(*this); }

  /// Whether it has been told since this was last asked.
  [[nodiscard]] bool take() noexcept { return std::exchange(told_, false); }

 private:
  void clock_was_set() override {
    if (telling_.is_scheduled()) return;
    machine_.agenda().schedule(telling_, machine_.earliest_visible_time(), machine_.key());
  }
  void tell() {
    told_ = true;
    event_.notify({});
  }

  Machine& machine_;
  Event& event_;
  MemberHappening<ClockNews, &ClockNews::tell> telling_;
  bool told_ = false;
};

}  // namespace fermata::sim::detail
