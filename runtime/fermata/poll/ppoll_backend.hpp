// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>
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
  struct Entry {
    std::size_t place = 0;         // In watched_, from 1 on; 0 for none.
    std::uint32_t generation = 0;  // One more each time it is unwatched.
  };
  struct Found {
    int descriptor;
    PollMask mask;
    std::uint32_t generation;
  };

  /// Whether it has been watched ever since it was found.
  [[nodiscard]] bool holds(const Found& found) const noexcept;

  std::vector<pollfd> watched_;
  std::vector<Entry> entries_;  // By descriptor.
  std::vector<Found> found_;
};

}  // namespace fermata::poll
