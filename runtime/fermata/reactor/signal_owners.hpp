// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

#include "fermata/base/assert.hpp"
#include "fermata/system/mutex.hpp"

namespace fermata::backend {

/// Which event loop of a program handles a signal: one at a time, as often as it likes. Loops on
/// different threads may ask at once.
class SignalOwners {
 public:
  /// False when another owner has it.
  [[nodiscard]] bool claim(int signum, const void* owner) {
    const std::lock_guard lock(mutex_);
    Claim& claim = claims_[signum];
    if (claim.count > 0 && claim.owner != owner) return false;
    claim.owner = owner;
    ++claim.count;
    return true;
  }

  /// REQUIRES: claimed.
  void release(int signum) noexcept {
    const std::lock_guard lock(mutex_);
    Claim& claim = claims_[signum];
    FERMATA_ASSERT(claim.count > 0);
    --claim.count;
  }

 private:
  struct Claim {
    const void* owner = nullptr;
    std::size_t count = 0;
  };

  os::Mutex mutex_;
  std::map<int, Claim> claims_;
};

}  // namespace fermata::backend
