// SPDX-License-Identifier: Apache-2.0
#include "fermata/poll/pselect_backend.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "fermata/base/error.hpp"
#include "fermata/os/wait_limit.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::poll {

PselectBackend::PselectBackend() noexcept {
  FD_ZERO(&watched_.readable);
  FD_ZERO(&watched_.writable);
  FD_ZERO(&watched_.prioritized);
  found_ = watched_;
}

Capabilities PselectBackend::capabilities() const noexcept {
  return {.kinds = PollMask::Readable | PollMask::Writable | PollMask::Prioritized,
          .foreign_descriptors = true,
          .descriptor_limit = FD_SETSIZE};
}

PollMask PselectBackend::mask_in(const Sets& sets, int descriptor) noexcept {
  PollMask mask = PollMask::None;
  if (FD_ISSET(descriptor, &sets.readable)) mask |= PollMask::Readable;
  if (FD_ISSET(descriptor, &sets.writable)) mask |= PollMask::Writable;
  if (FD_ISSET(descriptor, &sets.prioritized)) mask |= PollMask::Prioritized;
  return mask;
}

void PselectBackend::clear_in(Sets& sets, int descriptor) noexcept {
  FD_CLR(descriptor, &sets.readable);
  FD_CLR(descriptor, &sets.writable);
  FD_CLR(descriptor, &sets.prioritized);
}

void PselectBackend::watch(int descriptor, PollMask mask) {
  if (descriptor >= FD_SETSIZE) {
    throw PollError(fmt::format("watch descriptor {}: expected a number below {}, the limit of {}",
                                descriptor, FD_SETSIZE, name()));
  }
  clear_in(watched_, descriptor);
  if (any(mask & PollMask::Readable)) FD_SET(descriptor, &watched_.readable);
  if (any(mask & PollMask::Writable)) FD_SET(descriptor, &watched_.writable);
  if (any(mask & PollMask::Prioritized)) FD_SET(descriptor, &watched_.prioritized);
  end_ = std::max(end_, descriptor + 1);
}

void PselectBackend::unwatch(int descriptor) noexcept {
  if (descriptor >= end_) return;
  clear_in(watched_, descriptor);
  clear_in(found_, descriptor);
  while (end_ > 0 && !any(mask_in(watched_, end_ - 1))) --end_;
}

void PselectBackend::wait(Instant wake_by, Sink& sink) {
  found_ = watched_;
  const int end = end_;
  const os::WaitLimit limit(wake_by);
  const int count = os::kernel.pselect(end, &found_.readable, &found_.writable, &found_.prioritized,
                                       limit.get(), nullptr);
  if (count < 0) {  // Then the sets say nothing.
    if (errno == EINTR) return;
    if (errno == EBADF) return tell_closed(sink);
    throw PollError("wait with pselect", errno);
  }
  if (count == 0) return;
  for (int descriptor = 0; descriptor < end; ++descriptor) {
    const PollMask mask = mask_in(found_, descriptor);
    if (any(mask)) sink.ready(descriptor, mask);
  }
}

/// Reports descriptors that are not open, which pselect does not name.
void PselectBackend::tell_closed(Sink& sink) noexcept {
  for (int descriptor = 0; descriptor < end_; ++descriptor) {
    if (!any(mask_in(watched_, descriptor)) || os::kernel.fcntl(descriptor, F_GETFD) >= 0) continue;
    unwatch(descriptor);
    sink.ready(descriptor, PollMask::Disconnect);
  }
}

}  // namespace fermata::poll
