// SPDX-License-Identifier: Apache-2.0
#include "fermata/runtime/uv/loop.hpp"

#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>

#include "fermata/runtime/base/error.hpp"
#include "fermata/runtime/core/runtime.hpp"
#include "fermata/runtime/os/clock.hpp"

namespace fermata::uv::detail {

namespace {

void close_walked(uv_handle_t* handle, void*) {
  if (uv_is_closing(handle) == 0) uv_close(handle, nullptr);
}

}  // namespace

void check(int code, std::string_view operation) {
  if (code < 0) throw InputOutputError(operation, -code);
}

Loop::Loop(std::optional<std::uint64_t> reorder_seed)
    : loop_(new uv_loop_t),
      alarm_descriptor_(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)) {
  if (reorder_seed) reorder_.emplace(*reorder_seed);
  if (alarm_descriptor_ < 0) {
    delete loop_;
    throw InputOutputError("create a timer descriptor", errno);
  }
  if (const int code = uv_loop_init(loop_); code < 0) {
    ::close(alarm_descriptor_);
    delete loop_;
    throw InputOutputError("create an event loop", -code);
  }
  uv_async_init(loop_, &wake_, [](uv_async_t* wake) noexcept {
    static_cast<Loop*>(wake->data)->begin_callback();
  });
  wake_.data = this;
  uv_poll_init(loop_, &alarm_, alarm_descriptor_);
  alarm_.data = this;
  uv_poll_start(&alarm_, UV_READABLE, [](uv_poll_t* alarm, int, int) noexcept {
    static_cast<Loop*>(alarm->data)->on_alarm();
  });
}

Loop::~Loop() {
  uv_walk(loop_, close_walked, nullptr);
  uv_run(loop_, UV_RUN_NOWAIT);
  if (uv_loop_close(loop_) == 0) delete loop_;
  ::close(alarm_descriptor_);
}

void Loop::begin_turn() noexcept {
  timers_last_ = reorder_ && reorder_->timers_last();
  timers_fired_ = timers_last_;
}

void Loop::wait(TurnMode mode, Instant wake_by) noexcept {
  bool block = mode == TurnMode::Block && (wake_by == Instant::never() || wake_by > os::now());
  if (reorder_) {
    if (block && wake_by != Instant::never()) wake_by = wake_by + reorder_->lateness();
    const bool holds = reorder_->hold_some();
    block = block && !holds && !reorder_->pending();
  }
  if (block && wake_by != alarm_at_) set_alarm(wake_by);
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
  timers_fired_ = true;
  attachment_.runtime().fire_timers();
}

void Loop::set_alarm(Instant at) noexcept {
  alarm_at_ = at;
  itimerspec setting = {};
  if (at != Instant::never()) setting.it_value = os::to_timespec(at.nanoseconds);
  timerfd_settime(alarm_descriptor_, TFD_TIMER_ABSTIME, &setting, nullptr);
}

void Loop::on_alarm() noexcept {
  std::uint64_t expirations = 0;
  if (::read(alarm_descriptor_, &expirations, sizeof expirations) > 0) {
    alarm_at_ = Instant::never();
  }
  begin_callback();
}

}  // namespace fermata::uv::detail
