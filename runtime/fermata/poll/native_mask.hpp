// SPDX-License-Identifier: Apache-2.0
#pragma once

// Readiness as poll(2) spells it.

#include <poll.h>

#include "fermata/reactor/poll.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::poll::detail {

[[nodiscard]] inline short to_native(PollMask mask) noexcept {
  int events = 0;
  if (any(mask & PollMask::Readable)) events |= POLLIN;
  if (any(mask & PollMask::Writable)) events |= POLLOUT;
  if (any(mask & PollMask::Disconnect)) events |= POLLRDHUP;
  if (any(mask & PollMask::Prioritized)) events |= POLLPRI;
  return static_cast<short>(events);
}

[[nodiscard]] inline PollMask from_native(short events) noexcept {
  PollMask mask = PollMask::None;
  if ((events & POLLIN) != 0) mask |= PollMask::Readable;
  if ((events & POLLOUT) != 0) mask |= PollMask::Writable;
  if ((events & POLLPRI) != 0) mask |= PollMask::Prioritized;
  if ((events & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0) mask |= PollMask::Disconnect;
  return mask;
}

/// The part of `mask` that a descriptor is ready for, and Disconnect in any case.
[[nodiscard]] inline PollMask ready_now(int descriptor, PollMask mask) noexcept {
  pollfd asked = {descriptor, to_native(mask), 0};
  return os::kernel.poll(&asked, 1, 0) > 0 ? from_native(asked.revents) : PollMask::None;
}

}  // namespace fermata::poll::detail
