// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/select.h>

#include "fermata/poll/backend.hpp"

namespace fermata::poll {

/// pselect(2): descriptors below FD_SETSIZE, which is 1024.
class PselectBackend final : public Backend {
 public:
  PselectBackend() noexcept;

  [[nodiscard]] std::string_view name() const noexcept override { return "pselect"; }
  [[nodiscard]] Capabilities capabilities() const noexcept override;

  void watch(int descriptor, PollMask mask) override;
  void unwatch(int descriptor) noexcept override;
  void wait(Instant wake_by, Sink& sink) override;

 private:
  struct Sets {
    fd_set readable;
    fd_set writable;
    fd_set prioritized;
  };

  [[nodiscard]] static PollMask mask_in(const Sets& sets, int descriptor) noexcept;
  static void clear_in(Sets& sets, int descriptor) noexcept;
  void tell_closed(Sink& sink) noexcept;

  Sets watched_;
  Sets found_;   // In the wait, and not unwatched since.
  int end_ = 0;  // No descriptor from here on is watched.
};

}  // namespace fermata::poll
