// SPDX-License-Identifier: Apache-2.0
#pragma once

// The subscribers of one event.
//
// Ordering    Without removals, subscription order (CORE-CB-11). A removal outside a pass moves the
//             last entry into the hole.
// Pass        Every entry present at its start and not removed before its turn runs exactly once
//             (CORE-CB-01 to 03); entries may be added, removed and cleared by the callbacks.
// Cost        O(1) moves for each removal (CORE-CB-05); no allocation up to two entries.

#include <cstdint>
#include <exception>

#include "fermata/core/callback.hpp"

namespace fermata::backend {

class CallbackVector {
 public:
  CallbackVector() = default;
  CallbackVector(const CallbackVector&) = delete;
  CallbackVector& operator=(const CallbackVector&) = delete;
  ~CallbackVector() {
    if (entries_ != inline_) delete[] entries_;
  }

  /// Throws UsageError when the callback is subscribed already, here or elsewhere.
  [[gnu::always_inline]] void add(Callback& callback, Event& event) {
    FERMATA_REQUIRE(callback.event_ == nullptr, "a callback can be subscribed only once at a time");
    if (size_ == capacity_) [[unlikely]] {
      grow();
    }
    callback.event_ = &event;
    callback.add_ref();
    place(size_++, &callback);
  }

  /// Removes a callback. False, and no effect, when the callback is not in this vector
  /// (CORE-CB-12).
  bool remove(Callback& callback, Event& event) noexcept {
    if (callback.event_ != &event) return false;
    if (pass_ == nullptr && callback.slot_ + 1 == size_) {
      FERMATA_ASSERT(entries_[callback.slot_] == &callback);
      --size_;
    } else if (pass_ != nullptr && pass_->running == &callback) {
      pass_->running = nullptr;  // It stands in the gap: nothing to move.
    } else {
      FERMATA_ASSERT(entries_[callback.slot_] == &callback);
      fill_hole(callback.slot_);
    }
    let_go(callback);
    return true;
  }

  /// Removes the only entry. REQUIRES: `callback` is only(), and somebody else refers to it.
  void remove_only(Callback& callback) noexcept {
    FERMATA_ASSERT(only() == &callback);
    FERMATA_ASSERT(callback.ref_count_ > 1);
    size_ = 0;
    callback.event_ = nullptr;
    --callback.ref_count_;
  }

  /// Removes everybody who is subscribed now: the one that runs first, then in index order. Legal
  /// during a pass.
  void clear() noexcept;

  /// Calls everybody who is subscribed now. `before` runs ahead of each call. Returns the first
  /// exception thrown by a callback, with the later ones linked behind it (CORE-CB-09).
  /// REQUIRES: no pass is running.
  template <class Before>
  [[gnu::always_inline]] std::exception_ptr run_pass(Event& event, const Outcome& outcome,
                                                     Before before) {
    FERMATA_ASSERT(pass_ == nullptr);
    Pass pass{0, 0, size_, nullptr};
    pass_ = &pass;
    std::exception_ptr first_error;
    while (Callback* callback = take_next(pass)) {
      before();
      try {
        callback->run(event, outcome);
      } catch (...) {
        keep_error(first_error);
      }
      settle(pass, *callback);
    }
    close_gap(pass);
    pass_ = nullptr;
    return first_error;
  }

  [[nodiscard]] bool in_pass() const noexcept { return pass_ != nullptr; }

  /// Entries, counting the one that is running only while it is still subscribed.
  [[nodiscard]] std::uint32_t size() const noexcept {
    return pass_ == nullptr ? size_ : size_in_pass();
  }
  [[nodiscard]] std::uint32_t capacity() const noexcept { return capacity_; }
  /// The only entry; null when there are others, or none. REQUIRES: no pass is running.
  [[nodiscard]] Callback* only() const noexcept {
    FERMATA_ASSERT(pass_ == nullptr);
    return size_ == 1 ? entries_[0] : nullptr;
  }

  /// Calls `visit(Callback&)` for every entry, in index order.
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::uint32_t i = 0; i < size_; ++i) {
      if (pass_ == nullptr || i < pass_->kept || i >= pass_->cursor) visit(*entries_[i]);
    }
    if (pass_ != nullptr && pass_->running != nullptr) visit(*pass_->running);
  }

 private:
  // Regions of the array during a pass: [0, kept) ran and stay, [kept, cursor) gap,
  // [cursor, limit) pending, [limit, size) added during the pass.
  struct Pass {
    std::uint32_t kept;
    std::uint32_t cursor;
    std::uint32_t limit;
    Callback* running;  // Null when it was removed during its own turn.
  };

  static constexpr std::uint32_t kInline = 2;

  [[nodiscard]] std::uint32_t size_in_pass() const noexcept {
    return pass_->kept + (size_ - pass_->cursor) + (pass_->running != nullptr ? 1 : 0);
  }
  Callback* take_next(Pass& pass) noexcept {
    if (pass.cursor >= pass.limit) return nullptr;
    pass.running = entries_[pass.cursor++];
    pass.running->add_ref();
    return pass.running;
  }

  void settle(Pass& pass, Callback& callback) noexcept {
    FERMATA_ASSERT(pass.kept < pass.cursor || pass.running == nullptr);
    if (pass.running == &callback) place(pass.kept++, &callback);
    pass.running = nullptr;
    callback.release();
  }

  void close_gap(const Pass& pass) noexcept {
    if (pass.kept == pass.cursor) return;
    FERMATA_ASSERT(pass.kept < pass.cursor);
    FERMATA_ASSERT(pass.cursor <= size_);
    std::uint32_t to = pass.kept;
    for (std::uint32_t from = pass.cursor; from < size_; ++from) place(to++, entries_[from]);
    size_ = to;
  }

  void place(std::uint32_t index, Callback* callback) noexcept {
    entries_[index] = callback;
    callback->slot_ = index;
  }

  static void let_go(Callback& callback) noexcept {
    callback.event_ = nullptr;
    callback.release();
  }

  void grow();
  void fill_hole(std::uint32_t hole) noexcept;
  static void keep_error(std::exception_ptr& first_error) noexcept;

  Callback** entries_ = inline_;
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = kInline;
  Callback* inline_[kInline] = {};
  Pass* pass_ = nullptr;
};

}  // namespace fermata::backend
