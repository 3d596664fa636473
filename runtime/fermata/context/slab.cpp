// SPDX-License-Identifier: Apache-2.0
#include "fermata/context/slab.hpp"

namespace fermata::detail {

void SlabList::push_front(Slab& slab) noexcept {
  slab.previous = nullptr;
  slab.next = front_;
  (front_ != nullptr ? front_->previous : back_) = &slab;
  front_ = &slab;
}

void SlabList::push_back(Slab& slab) noexcept {
  slab.previous = back_;
  slab.next = nullptr;
  (back_ != nullptr ? back_->next : front_) = &slab;
  back_ = &slab;
}

void SlabList::remove(Slab& slab) noexcept {
  (slab.previous != nullptr ? slab.previous->next : front_) = slab.next;
  (slab.next != nullptr ? slab.next->previous : back_) = slab.previous;
}

}  // namespace fermata::detail
