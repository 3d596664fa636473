// SPDX-License-Identifier: Apache-2.0
#include "fermata/os/watchdog.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sync/await.hpp"
#include "fermata/uv/reactor.hpp"

namespace fermata {
namespace {

using namespace std::chrono_literals;

/// A log that two threads write.
class Log {
 public:
  void add(std::string_view line) {
    const std::lock_guard lock(mutex_);
    text_.append(line).append("\n");
  }
  [[nodiscard]] std::string text() const {
    const std::lock_guard lock(mutex_);
    return text_;
  }
  /// Busy until `part` has been logged: a step that goes on. Returns whether it was, in 10 s.
  [[nodiscard]] bool comes(std::string_view part) const {
    const auto end = std::chrono::steady_clock::now() + 10s;
    while (text().find(part) == std::string::npos) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::yield();
    }
    return true;
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

class WatchdogOf : public ::testing::Test {
 protected:
  void run(Duration slow_step, const std::function<void()>& body) {
    RuntimeOptions options;
    options.slow_step = slow_step;
    options.log = [this](std::string_view line) { log.add(line); };
    Runtime runtime(uv::make_reactor(), options);
    runtime.run(body);
  }

  Log log;
};

TEST_F(WatchdogOf, ReportsAStepWhileItGoesOn) {
  run(5ms, [&] {
    await(spawn("busy", [&] {
      EXPECT_TRUE(log.comes("slow step: coroutine 2 spawned at "));
      EXPECT_TRUE(log.comes("watchdog_test.cpp:"));
      EXPECT_TRUE(log.comes(" has been running for more than 5 ms and still runs\n"));
    }));
  });
}

TEST_F(WatchdogOf, ReportsTheFirstStepOfMainToo) {
  run(5ms, [&] { EXPECT_TRUE(log.comes("slow step: coroutine 1 ")); });
}

TEST_F(WatchdogOf, ReportsAStepOnce) {
  std::atomic<int> reports = 0;
  os::WatchdogThread watchdog(1ms, [&](const std::string&) { ++reports; });
  run(Duration::zero(), [&] {
    watchdog.begin(&current_coroutine());
    while (reports == 0) std::this_thread::yield();
    std::this_thread::sleep_for(10ms);
    EXPECT_EQ(reports, 1);
    watchdog.begin(&current_coroutine());
    while (reports == 1) std::this_thread::yield();
  });
}

TEST_F(WatchdogOf, SaysNothingWhileNobodyRuns) {
  std::atomic<int> reports = 0;
  os::WatchdogThread watchdog(1ms, [&](const std::string&) { ++reports; });
  run(Duration::zero(), [&] { watchdog.begin(&current_coroutine()); });
  watchdog.begin(nullptr);
  const int before = reports;
  std::this_thread::sleep_for(20ms);
  EXPECT_LE(reports, before + 1) << "one may have been on its way";
}

TEST_F(WatchdogOf, EndsAtOnceWithItsRun) {
  run(1h, [] { suspend(); });
  EXPECT_EQ(log.text(), "");
}

}  // namespace
}  // namespace fermata
