// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fermata/os/epoll_set.hpp"
#include "fermata/poll/backend.hpp"

namespace fermata::poll {

/// epoll(7), level-triggered.
class EpollBackend final : public Backend {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "epoll"; }
  [[nodiscard]] Capabilities capabilities() const noexcept override;

  void watch(int descriptor, PollMask mask) override { set_.watch(descriptor, mask); }
  void unwatch(int descriptor) noexcept override { set_.unwatch(descriptor); }
  void wait(Instant wake_by, Sink& sink) override;

  /// Readable when a wait would tell something.
  [[nodiscard]] int descriptor() const noexcept { return set_.descriptor(); }

 private:
  os::EpollSet set_;
};

}  // namespace fermata::poll
