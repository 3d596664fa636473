// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fermata/core/suspend.hpp"

namespace fermata::properties {

/// Whoever is wrong, others go on: what is told late is told before they are done.
inline void go_on() {
  for (int i = 0; i < 300; ++i) suspend();
}

}  // namespace fermata::properties
