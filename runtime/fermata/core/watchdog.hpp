// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace fermata {
class CoroutineBase;
}  // namespace fermata

namespace fermata::backend {

/// Reports a step that takes too long while it still runs: a step that never ends would not be
/// reported otherwise. Made by a reactor whose time is real.
class Watchdog {
 public:
  /// Called on a thread of the watchdog's own.
  using Report = std::function<void(const std::string&)>;

  virtual ~Watchdog() = default;

  /// A step of `coroutine` begins; null: nobody's code runs until the next call. Cheap.
  virtual void begin(const CoroutineBase* coroutine) noexcept = 0;
};

}  // namespace fermata::backend
