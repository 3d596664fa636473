// SPDX-License-Identifier: Apache-2.0
#include "fermata/runtime/core/callback_vector.hpp"

#include <algorithm>
#include <utility>

#include "fermata/runtime/base/error.hpp"

namespace fermata {

void CallbackVector::add(Callback& callback, Event& event) {
  FERMATA_REQUIRE(callback.event_ == nullptr, "a callback can be subscribed only once at a time");
  if (size_ == capacity_) grow();
  callback.event_ = &event;
  callback.add_ref();
  place(size_++, &callback);
}

bool CallbackVector::remove(Callback& callback, Event& event) noexcept {
  if (callback.event_ != &event) return false;
  if (pass_ != nullptr && pass_->running == &callback) {
    pass_->running = nullptr;  // It stands in the gap: nothing to move.
  } else {
    std::uint32_t hole = callback.slot_;
    if (pass_ != nullptr && hole < pass_->kept) {
      place(hole, entries_[--pass_->kept]);
    } else {
      if (pass_ != nullptr && hole < pass_->limit) {
        place(hole, entries_[--pass_->limit]);
        hole = pass_->limit;
      }
      const std::uint32_t last = --size_;
      if (hole != last) place(hole, entries_[last]);
    }
  }
  let_go(callback);
  return true;
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
  if (outer == nullptr) close_gap(pass);
  pass_ = outer;
}

Callback* CallbackVector::take_next(Pass& pass) noexcept {
  if (pass.cursor >= pass.limit) return nullptr;
  pass.running = entries_[pass.cursor++];
  pass.running->add_ref();
  return pass.running;
}

void CallbackVector::settle(Pass& pass, Callback& callback) noexcept {
  if (pass.running == &callback) place(pass.kept++, &callback);
  pass.running = nullptr;
  callback.release();
}

void CallbackVector::close_gap(const Pass& pass) noexcept {
  if (pass.kept == pass.cursor) return;
  std::uint32_t to = pass.kept;
  for (std::uint32_t from = pass.cursor; from < size_; ++from) place(to++, entries_[from]);
  size_ = to;
}

void CallbackVector::place(std::uint32_t index, Callback* callback) noexcept {
  entries_[index] = callback;
  callback->slot_ = index;
}

void CallbackVector::grow() {
  const std::uint32_t capacity = capacity_ * 2;
  auto** entries = new Callback*[capacity];
  std::copy(entries_, entries_ + size_, entries);
  if (entries_ != inline_) delete[] entries_;
  entries_ = entries;
  capacity_ = capacity;
}

void CallbackVector::keep_error(std::exception_ptr& first_error) noexcept {
  first_error = link_previous(first_error, std::current_exception());
}

void CallbackVector::let_go(Callback& callback) noexcept {
  callback.event_ = nullptr;
  callback.release();
}

}  // namespace fermata
