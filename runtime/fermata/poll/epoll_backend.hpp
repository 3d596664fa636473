// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fermata/base/error.hpp"
#include "fermata/os/epoll_set.hpp"
#include "fermata/poll/backend.hpp"

namespace fermata::poll {

/// epoll(7), level-triggered.
class EpollBackend final : public Backend {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "epoll"; }
  [[nodiscard]] Capabilities capabilities() const noexcept override {
    return {.kinds = kAllKinds, .foreign_descriptors = true};
  }

  void watch(int descriptor, PollMask mask) override { set_.watch(descriptor, mask); }
  void unwatch(int descriptor) noexcept override { set_.unwatch(descriptor); }
  void wait(Instant wake_by, Sink& sink) override {
    const os::EpollSet::Look look = set_.look(wake_by);
    if (look.code != 0) throw PollError("wait for an epoll", look.code);
    for (const os::EpollSet::Found& found : look.found) {
      if (set_.holds(found)) sink.ready(found.descriptor, found.mask);
    }
    if (set_.must_be_rebuilt()) set_.rebuild();
  }

 private:
  os::EpollSet set_;
};

}  // namespace fermata::poll
