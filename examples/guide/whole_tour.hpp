// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "examples/guide/cancellation.hpp"
#include "examples/guide/channels.hpp"
#include "examples/guide/coroutines.hpp"
<<<<<<< HEAD
#include "examples/guide/pools.hpp"
=======
#include "examples/guide/locks.hpp"
>>>>>>> fe25906 (docs/guide: show locks)

namespace guide {

/// Every page of the guide.
inline void whole_tour() {
  coroutines::tour();
  cancellation::tour();
  channels::tour();
<<<<<<< HEAD
  pools::tour();
=======
  locks::tour();
>>>>>>> fe25906 (docs/guide: show locks)
}

}  // namespace guide
