// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fermata/base/time.hpp"

namespace fermata::os {

/// A descriptor that is readable from an instant of CLOCK_MONOTONIC on, to the nanosecond and never
/// early: how the loops of others are told when to be back.
class Alarm {
 public:
  /// Throws InputOutputError.
  Alarm();
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;
  ~Alarm();

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

  /// Not at all for never(). Costs a system call when it changes. REQUIRES: `at` is after the
  /// epoch.
  void set(Instant at) noexcept;
  /// Not readable any more, and not set.
  void acknowledge() noexcept;

 private:
  int descriptor_;
  Instant at_ = Instant::never();
};

}  // namespace fermata::os
