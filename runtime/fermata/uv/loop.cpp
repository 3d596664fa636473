// SPDX-License-Identifier: Apache-2.0
#include "fermata/uv/loop.hpp"

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/os/clock.hpp"

namespace fermata::uv::detail {

namespace {

void close_walked(uv_handle_t* handle, void*) {
  if (uv_is_closing(handle) == 0) uv_close(handle, nullptr);
}

}  // namespace

void check(int code, std::string_view operation) {
  if (code < 0) throw InputOutputError(operation, -code);
}

Loop::Loop(std::optional<std::uint64_t> reorder_seed) : loop_(new uv_loop_t) {
  if (reorder_seed) reorder_.emplace(*reorder_seed);
  if (const int code = uv_loop_init(loop_); code < 0) {
    delete loop_;
    throw InputOutputError("create an event loop", -code);
  }
  uv_async_init(loop_, &wake_, [](uv_async_t* wake) noexcept {
    static_cast<Loop*>(wake->data)->begin_callback();
  });
  wake_.data = this;
  uv_poll_init(loop_, &alarm_watch_, alarm_.descriptor());
  alarm_watch_.data = this;
  uv_poll_start(&alarm_watch_, UV_READABLE, [](uv_poll_t* alarm, int, int) noexcept {
    static_cast<Loop*>(alarm->data)->on_alarm();
  });
}

Loop::~Loop() {
  uv_walk(loop_, close_walked, nullptr);
  uv_run(loop_, UV_RUN_NOWAIT);
  if (uv_loop_close(loop_) == 0) delete loop_;
}

void Loop::begin_turn() noexcept {
  timers_last_ = reorder_ && reorder_->timers_last();
  timers_fired_ = timers_last_;
}

void Loop::wait(backend::TurnMode mode, Instant wake_by) noexcept {
  bool block =
      mode == backend::TurnMode::Block && (wake_by == Instant::never() || wake_by > os::now());
  if (reorder_) {
    if (block && wake_by != Instant::never()) wake_by = wake_by + reorder_->lateness();
    const bool holds = reorder_->hold_some();
    block = block && !holds && !reorder_->pending();
  }
  if (block) alarm_.set(wake_by);
  uv_run(loop_, block ? UV_RUN_ONCE : UV_RUN_NOWAIT);
  if (reorder_) {
    reorder_->release_all();
    reorder_->run_some();
  }
}

void Loop::end_turn() noexcept {
  if (!timers_fired_ || timers_last_) fire_timers();
}

void Loop::fire_timers() noexcept {
  FERMATA_ASSERT(attachment_.is_attached());
  timers_fired_ = true;
  attachment_.runtime().fire_timers();
}

void Loop::on_alarm() noexcept {
  alarm_.acknowledge();
  begin_callback();
}

}  // namespace fermata::uv::detail
