// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/reactor/handle.hpp"

namespace fermata::os {

/// Fires the runtime's timers once in a turn, ahead of the first thing that it tells.
class TurnTimers {
 public:
  /// A turn begins; it ends with fire().
  void begin() noexcept { fired_ = false; }

  /// The first thing when something is told.
  void fire(fermata::detail::Attachment& attachment) noexcept {
    if (std::exchange(fired_, true)) return;
    FERMATA_ASSERT(attachment.is_attached());
    attachment.runtime().fire_timers();
  }

 private:
  bool fired_ = true;  // In this turn; between turns nobody wants them.
};

}  // namespace fermata::os
