// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/tape/occurrences.hpp"

#include <utility>

#include "fermata/base/assert.hpp"

namespace fermata::sim {

void Occurrences::clear() noexcept {
  used_ = 0;
  if (++epoch_ != 0) return;
  for (Slot& slot : slots_) slot.epoch = 0;
  epoch_ = 1;
}

void Occurrences::grow() {
  FERMATA_ASSERT(used_ <= mask_);
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  mask_ = slots_.size() - 1;
  FERMATA_ASSERT((slots_.size() & mask_) == 0);
  for (const Slot& slot : old) {
    if (slot.epoch == epoch_) find(slot.key) = slot;
  }
}

}  // namespace fermata::sim
