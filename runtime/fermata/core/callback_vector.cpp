// SPDX-License-Identifier: Apache-2.0
#include "fermata/core/callback_vector.hpp"

#include <algorithm>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"

namespace fermata::backend {

void CallbackVector::fill_hole(std::uint32_t hole) noexcept {
  FERMATA_ASSERT(hole < size_);
  FERMATA_ASSERT(pass_ == nullptr || hole < pass_->kept || hole >= pass_->cursor);
  if (pass_ != nullptr && hole < pass_->kept) {
    place(hole, entries_[--pass_->kept]);
    return;
  }
  if (pass_ != nullptr && hole < pass_->limit) {
    place(hole, entries_[--pass_->limit]);
    hole = pass_->limit;
  }
  const std::uint32_t last = --size_;
  if (hole != last) place(hole, entries_[last]);
}

void CallbackVector::clear() noexcept {
  // The end of one may remove or add others: this walks as a pass does.
  Pass own{0, 0, size_, nullptr};
  Pass* const outer = pass_;
  Pass& pass = outer != nullptr ? *outer : own;
  pass_ = &pass;
  Callback* const running = std::exchange(pass.running, nullptr);
  close_gap(pass);
  pass.kept = pass.cursor = 0;
  pass.limit = size_;
  if (running != nullptr) let_go(*running);
  while (pass.cursor < pass.limit) let_go(*entries_[pass.cursor++]);
  FERMATA_ASSERT(pass.cursor == pass.limit);
  FERMATA_ASSERT(pass.running == nullptr);
  if (outer == nullptr) close_gap(pass);
  pass_ = outer;
}

void CallbackVector::grow() {
  FERMATA_ASSERT(size_ == capacity_);
  const std::uint32_t capacity = capacity_ * 2;
  FERMATA_ASSERT(capacity > capacity_);
  auto** entries = new Callback*[capacity];
  std::copy(entries_, entries_ + size_, entries);
  if (entries_ != inline_) delete[] entries_;
  entries_ = entries;
  capacity_ = capacity;
}

void CallbackVector::keep_error(std::exception_ptr& first_error) noexcept {
  first_error = link_previous(first_error, std::current_exception());
}

}  // namespace fermata::backend
