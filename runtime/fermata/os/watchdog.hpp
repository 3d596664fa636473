// SPDX-License-Identifier: Apache-2.0
#pragma once

// The watchdog: a thread that takes no signals, sleeps most of the time, and reads what the
// runtime's thread leaves in a few atomics.

#include <atomic>
#include <cstdint>
#include <thread>

#include "fermata/base/time.hpp"
#include "fermata/core/watchdog.hpp"
#include "fermata/system/mutex.hpp"

namespace fermata::os {

class WatchdogThread final : public backend::Watchdog {
 public:
  /// Reports once for each step that has lasted longer than `limit`, after twice that time at the
  /// latest. Throws std::system_error when a thread cannot be created.
  WatchdogThread(Duration limit, Report report);
  WatchdogThread(const WatchdogThread&) = delete;
  WatchdogThread& operator=(const WatchdogThread&) = delete;
  ~WatchdogThread() override;

  void begin(const CoroutineBase* coroutine) noexcept override;

 private:
  /// What the watchdog thread may read about the running step. The number is odd while the rest is
  /// written.
  struct Step {
    std::atomic<std::uint64_t> number = 0;
    std::atomic<std::uint64_t> coroutine = 0;  // Its id; 0 for nobody.
    std::atomic<const char*> file = "";
    std::atomic<std::int64_t> line = 0;
  };

  void watch();
  void look();

  const Duration limit_;
  const Report report_;
  Step step_;
  std::uint64_t seen_ = 0;      // The step that ran at the last look.
  std::uint64_t reported_ = 0;  // The last one reported.
  os::Mutex mutex_;
  os::Condition end_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace fermata::os
