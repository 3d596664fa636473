// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "fermata/poll/ppoll_backend.hpp"

namespace fermata::test {

/// A backend of a program's own: counts what it passes on.
class CountingBackend final : public poll::Backend {
 public:
  std::string_view name() const noexcept override { return "counting"; }
  poll::Capabilities capabilities() const noexcept override { return inner_.capabilities(); }
  void watch(int descriptor, PollMask mask) override { inner_.watch(descriptor, mask); }
  void unwatch(int descriptor) noexcept override { inner_.unwatch(descriptor); }
  void wait(Instant wake_by, poll::Sink& sink) override {
    ++waits;
    inner_.wait(wake_by, sink);
  }

  int waits = 0;

 private:
  poll::PpollBackend inner_;
};

}  // namespace fermata::test
