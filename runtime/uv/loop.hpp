// SPDX-License-Identifier: Apache-2.0
#pragma once

// The libuv loop, and what every part needs of it.
//
// Time    libuv's own timers are not used: the runtime's queue decides what is due, and a timerfd
//         ends a blocking turn, to the nanosecond and never early.
// Order   A turn fires the runtime's timers ahead of its first I/O completion: each libuv callback
//         calls begin_callback() before anything else.
// Errors  Nothing may be thrown through libuv; callbacks are noexcept.

#include <uv.h>

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "fermata/runtime/core/reactor.hpp"
#include "fermata/runtime/reactor/handle.hpp"

namespace fermata::uv::detail {

/// Throws InputOutputError when `code`, as returned by libuv, is an error.
void check(int code, std::string_view operation);

class Loop {
 public:
  Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  /// Closes what is its own. A loop that others still use is left to the system.
  ~Loop();

  [[nodiscard]] uv_loop_t* get() noexcept { return loop_; }
  [[nodiscard]] fermata::detail::Attachment& attachment() noexcept { return attachment_; }

  [[nodiscard]] static Instant now() noexcept;

  /// A turn: begin, wait for what happens, end. Timers have fired when it ends.
  void begin_turn() noexcept { timers_fired_ = false; }
  void wait(TurnMode mode, Instant wake_by) noexcept;
  void end_turn() noexcept { begin_callback(); }

  /// The first thing in every libuv callback.
  void begin_callback() noexcept {
    if (!timers_fired_) fire_timers();
  }

  void wake() noexcept { uv_async_send(&wake_); }

  /// For reads that no reader waits for; valid during one callback.
  [[nodiscard]] std::span<std::byte> spare_buffer() noexcept { return spare_; }

 private:
  void fire_timers() noexcept;
  void set_alarm(Instant at) noexcept;
  void on_alarm() noexcept;

  uv_loop_t* loop_;
  uv_async_t wake_;
  int alarm_descriptor_;
  uv_poll_t alarm_;
  Instant alarm_at_ = Instant::never();
  bool timers_fired_ = true;  // In this turn; between turns nobody wants them.
  fermata::detail::Attachment attachment_;
  std::array<std::byte, 64 * 1024> spare_;
};

}  // namespace fermata::uv::detail
