// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "fermata/core/observer.hpp"

namespace fermata::sim {

/// Somebody who wants to know who lets whom go on.
class WakeListener {
 public:
  /// While the coroutine `by` had control, or nobody when it is 0, the coroutine `who` was put
  /// among those that can run. Both are paths, which survive edits. Throws nothing.
  virtual void woken(std::uint64_t by, std::uint64_t who, backend::WakeCause cause) = 0;

 protected:
  ~WakeListener() = default;
};

}  // namespace fermata::sim
