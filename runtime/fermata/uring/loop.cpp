// SPDX-License-Identifier: Apache-2.0
#include "fermata/uring/loop.hpp"

#include <poll.h>

#include <cstddef>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/uring/refusal.hpp"

namespace fermata::uring::detail {

namespace {

/// Put off by as many, operations are submitted at once.
constexpr std::size_t kPortion = 64;

}  // namespace

Loop::Loop() { require_available(); }

void Loop::open() {
  FERMATA_ASSERT(run_ == nullptr);
  run_ = std::make_unique<Run>();
  start_poll(waking_, wake_up_.descriptor());
}

void Loop::close() noexcept {
  FERMATA_ASSERT(put_off_.empty());  // Every handle is closed.
  run_.reset();
  FERMATA_ASSERT(!waking_.is_in_flight());
}

void Loop::put_off(PutOff& what) noexcept {
  if (std::exchange(what.waits_, true)) return;
  put_off_.push_back(what);
  if (put_off_.size() < kPortion) return;
  start_put_off();
  ring().submit();
}

void Loop::start_put_off() noexcept {
  while (PutOff* const first = put_off_.first()) {
    forget(*first);
    first->start();
  }
  FERMATA_ASSERT(put_off_.empty());
}

void Loop::forget(PutOff& what) noexcept {
  if (std::exchange(what.waits_, false)) put_off_.remove(what);
}

void Loop::start_poll(Operation& operation, int descriptor) noexcept {
  ring().start(operation,
               [&](io_uring_sqe* entry) { io_uring_prep_poll_add(entry, descriptor, POLLIN); });
}

void Loop::wait(backend::TurnMode mode, Instant wake_by) {
  start_put_off();
  ring().look(mode == backend::TurnMode::Block ? wake_by : Instant{}, [this] { fire_timers(); });
}

void Loop::woken(int, std::uint32_t) noexcept {
  wake_up_.acknowledge();
  start_poll(waking_, wake_up_.descriptor());
}

}  // namespace fermata::uring::detail
