// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <cstddef>
#include <vector>

#include "fermata/poll/backend.hpp"

namespace fermata::poll {

/// ppoll(2): any number of descriptors, all of which the kernel looks at in each wait.
class PpollBackend final : public Backend {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "ppoll"; }
  [[nodiscard]] Capabilities capabilities() const noexcept override;

  void watch(int descriptor, PollMask mask) override;
  void unwatch(int descriptor) noexcept override;
  void wait(Instant wake_by, Sink& sink) override;

 private:
  [[nodiscard]] bool watches(int descriptor) const noexcept;

  std::vector<pollfd> watched_;
  std::vector<std::size_t> places_;  // In watched_, from 1 on, by descriptor; 0 for none.
  std::vector<pollfd> found_;
};

}  // namespace fermata::poll
