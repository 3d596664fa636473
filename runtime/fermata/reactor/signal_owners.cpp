// SPDX-License-Identifier: Apache-2.0
#include "fermata/reactor/signal_owners.hpp"

#include "fermata/base/assert.hpp"

namespace fermata {

bool SignalOwners::claim(int signum, const void* owner) {
  const std::lock_guard lock(mutex_);
  Claim& claim = claims_[signum];
  if (claim.count > 0 && claim.owner != owner) return false;
  claim.owner = owner;
  ++claim.count;
  return true;
}

void SignalOwners::release(int signum) noexcept {
  const std::lock_guard lock(mutex_);
  Claim& claim = claims_[signum];
  FERMATA_ASSERT(claim.count > 0);
  --claim.count;
}

}  // namespace fermata
