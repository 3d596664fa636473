// SPDX-License-Identifier: Apache-2.0
#pragma once

// The libuv loop, and what every part needs of it.
//
// Time    libuv's own timers are not used: the runtime's queue decides what is due, and an alarm
//         ends a blocking turn, to the nanosecond and never early.
// Order   A turn fires the runtime's timers ahead of its first I/O completion: each libuv callback
//         calls begin_callback() before anything else.
// Reorder What the system leaves open may be drawn instead: completions go through complete(), what
//         becomes ready is watched through watch().
// Errors  Nothing may be thrown through libuv; callbacks are noexcept.

#include <uv.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "fermata/core/reactor.hpp"
#include "fermata/os/alarm.hpp"
#include "fermata/reactor/handle.hpp"
#include "fermata/uv/reorder.hpp"

namespace fermata::uv::detail {

/// Throws InputOutputError when `code`, as returned by libuv, is an error.
void check(int code, std::string_view operation);

class Loop {
 public:
  /// With a seed, in other legal orders than the system's.
  explicit Loop(std::optional<std::uint64_t> reorder_seed = std::nullopt);
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  /// Closes what is its own. A loop that others still use is left to the system.
  ~Loop();

  [[nodiscard]] uv_loop_t* get() noexcept { return loop_; }
  [[nodiscard]] fermata::detail::Attachment& attachment() noexcept { return attachment_; }

  /// A turn: begin, wait for what happens, end. Timers have fired when it ends.
  void begin_turn() noexcept;
  void wait(backend::TurnMode mode, Instant wake_by) noexcept;
  void end_turn() noexcept;

  /// The first thing in every libuv callback.
  void begin_callback() noexcept {
    if (!timers_fired_) fire_timers();
  }

  /// The end of an operation whose order among others is open: calls `tell`, now or in a turn soon.
  template <class F>
  void complete(F tell) noexcept {
    begin_callback();
    if (reorder_) return reorder_->defer(std::move(tell));
    tell();
  }
  /// Whether some were not told yet.
  [[nodiscard]] bool owes_completions() const noexcept { return reorder_ && reorder_->pending(); }

  /// `source` is, or is no more, told of by libuv whenever it is ready. Both are idempotent.
  void watch(ReadySource& source) noexcept {
    if (reorder_) reorder_->watch(source);
  }
  void unwatch(ReadySource& source) noexcept {
    if (reorder_) reorder_->unwatch(source);
  }
  /// Null when the system's order is kept.
  [[nodiscard]] Reorder* reorder() noexcept { return reorder_ ? &*reorder_ : nullptr; }

  void wake() noexcept { uv_async_send(&wake_); }

  /// For reads that no reader waits for; valid during one callback.
  [[nodiscard]] std::span<std::byte> spare_buffer() noexcept { return spare_; }

 private:
  void fire_timers() noexcept;
  void on_alarm() noexcept;

  os::Alarm alarm_;
  uv_loop_t* loop_;
  uv_async_t wake_;
  uv_poll_t alarm_watch_;
  bool timers_fired_ = true;  // In this turn; between turns nobody wants them.
  bool timers_last_ = false;  // They are, once all else is told.
  std::optional<Reorder> reorder_;
  fermata::detail::Attachment attachment_;
  std::array<std::byte, 64 * 1024> spare_;
};

}  // namespace fermata::uv::detail
