// SPDX-License-Identifier: Apache-2.0
#include "fermata/poll/epoll_backend.hpp"

#include "fermata/base/error.hpp"

namespace fermata::poll {

Capabilities EpollBackend::capabilities() const noexcept {
  return {.kinds = kAllKinds, .foreign_descriptors = true};
}

void EpollBackend::wait(Instant wake_by, Sink& sink) {
  const os::EpollSet::Look look = set_.look(wake_by);
  if (look.code != 0) throw PollError("wait for an epoll", look.code);
  for (const os::EpollSet::Found& found : look.found) {
    if (set_.holds(found)) sink.ready(found.descriptor, found.mask);
  }
  if (set_.must_be_rebuilt()) set_.rebuild();
}

}  // namespace fermata::poll
