// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "fermata/base/source_place.hpp"
#include "fermata/posix/lock_watch.hpp"

namespace fermata::posix {

/// The mutexes that a coroutine has locked in its scope, and holds. Lives as long as the scope, on
/// one thread.
class HeldLocks {
 public:
  /// `holder` is the coroutine, for people.
  HeldLocks(std::string holder, const SourcePlace& place);
  HeldLocks(const HeldLocks&) = delete;
  HeldLocks& operator=(const HeldLocks&) = delete;
  ~HeldLocks();

  /// From now on the thread locks for this one; null: for none. Returns for which before.
  static HeldLocks* enter(HeldLocks* locks) noexcept;

 private:
  class Watch;
  static Watch watch_;

  [[nodiscard]] bool holds(const pthread_mutex_t& mutex) const noexcept;

  std::string holder_;
  SourcePlace place_;
  /// A mutex, and who owned it then, as it says itself: one that is destroyed is not told.
  struct Held {
    const pthread_mutex_t* mutex;
    int owner;
  };
  std::vector<Held> held_;
  HeldLocks* next_;  // The next one of this thread.
};

}  // namespace fermata::posix
