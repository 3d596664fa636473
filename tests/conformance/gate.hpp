// SPDX-License-Identifier: Apache-2.0
#pragma once

// Waiting for another thread, or keeping it, for as long as it takes on a busy machine.

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>

#include "fermata/core/suspend.hpp"

namespace fermata::conformance {

inline void until(const std::function<bool()>& condition) {
  while (!condition()) delay(std::chrono::microseconds(100));
}

/// Keeps others from going on until it is opened; its copies are one gate.
struct Gate {
  void pass() const {
    until([this] { return open->load(); });
  }
  std::shared_ptr<std::atomic<bool>> open = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace fermata::conformance
