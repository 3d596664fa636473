// SPDX-License-Identifier: Apache-2.0
#pragma once

// Readiness as a fake kernel has it: in the bits of epoll, which are those of poll. Not the
// runtime's own translations, which are under test.

#include <sys/epoll.h>

#include <cstdint>

#include "fermata/reactor/poll.hpp"

namespace fermata::properties {

[[nodiscard]] inline std::uint32_t events_of(PollMask mask) {
  std::uint32_t events = 0;
  if (any(mask & PollMask::Readable)) events |= EPOLLIN;
  if (any(mask & PollMask::Writable)) events |= EPOLLOUT;
  if (any(mask & PollMask::Disconnect)) events |= EPOLLRDHUP;
  if (any(mask & PollMask::Prioritized)) events |= EPOLLPRI;
  return events;
}

[[nodiscard]] inline PollMask mask_of(std::uint32_t events) {
  PollMask mask = PollMask::None;
  if ((events & EPOLLIN) != 0) mask |= PollMask::Readable;
  if ((events & EPOLLOUT) != 0) mask |= PollMask::Writable;
  if ((events & EPOLLRDHUP) != 0) mask |= PollMask::Disconnect;
  if ((events & EPOLLPRI) != 0) mask |= PollMask::Prioritized;
  return mask;
}

}  // namespace fermata::properties
