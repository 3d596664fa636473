// SPDX-License-Identifier: Apache-2.0

// Dispositions and several runtimes: what a signal means for the whole process.

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <optional>
#include <thread>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/io/signal.hpp"
#include "fermata/uv/reactor.hpp"
#include "tests/conformance/uv_arm.hpp"
#include "tests/support/checks.hpp"

namespace fermata {
namespace {

using namespace std::chrono_literals;
using conformance::UvArm;

using Handler = void (*)(int);

Handler disposition(int signum) {
  struct sigaction action = {};
  sigaction(signum, nullptr, &action);
  return action.sa_handler;
}

void own_handler(int) {}

TEST(UvSignals, TheHandlerIsThereWhileSomebodyWaitsAndTheOldOneComesBack) {
  FERMATA_CHECKS("SIG-01", "SIG-04");
  std::signal(SIGUSR1, own_handler);
  UvArm::run([] {
    EXPECT_EQ(disposition(SIGUSR1), &own_handler);
    {
      const SignalWatch one(SIGUSR1);
      std::optional<SignalWatch> two(SIGUSR1);
      EXPECT_NE(disposition(SIGUSR1), &own_handler);
      two.reset();
      EXPECT_NE(disposition(SIGUSR1), &own_handler);
    }
    EXPECT_EQ(disposition(SIGUSR1), &own_handler);
  });
  std::signal(SIGUSR1, SIG_DFL);
}

TEST(UvSignals, EveryRuntimeThatWaitsIsTold) {
  FERMATA_CHECKS("SIG-02", "SIG-04");
  std::signal(SIGUSR1, own_handler);
  constexpr int kRuntimes = 4;
  std::atomic<int> waiting = 0;
  std::atomic<int> told = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kRuntimes; ++i) {
    threads.emplace_back([&] {
      UvArm::run([&] {
        SignalWatch watch(SIGUSR1);
        ++waiting;
        watch.wait();
        ++told;
      });
    });
  }
  while (waiting < kRuntimes) std::this_thread::yield();
  kill(getpid(), SIGUSR1);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(told, kRuntimes);
  EXPECT_EQ(disposition(SIGUSR1), &own_handler);
  std::signal(SIGUSR1, SIG_DFL);
}

TEST(UvSignals, RuntimesComeAndGoUnderAStormOfSignals) {
  std::signal(SIGUSR1, own_handler);
  std::atomic<bool> stop = false;
  std::thread storm([&] {
    while (!stop) kill(getpid(), SIGUSR1);
  });
  int told = 0;
  for (int i = 0; i < 50; ++i) {
    UvArm::run([&] {
      wait_signal(SIGUSR1);
      ++told;
    });
    EXPECT_EQ(disposition(SIGUSR1), &own_handler) << "run " << i;
  }
  stop = true;
  storm.join();
  EXPECT_EQ(told, 50);
  std::signal(SIGUSR1, SIG_DFL);
}

TEST(UvSignals, AStopSignalShutsDownAndASecondOneForces) {
  FERMATA_CHECKS("SIG-04");
  const Handler inherited = disposition(SIGINT);  // It may be ignored, as by a shell's background.
  for (const Handler before : {Handler(SIG_DFL), Handler(SIG_IGN), Handler(&own_handler)}) {
    std::signal(SIGINT, before);
    Runtime runtime(uv::make_reactor(), {.log = [](std::string_view) {}});
    bool asked = false;
    const int code = runtime.run([&] {
      spawn("stubborn", [&] {
        try {
          delay(1h);
        } catch (const Cancellation&) {
          asked = true;
          std::raise(SIGINT);
          delay(1h);
        }
      });
      suspend();
      std::raise(SIGINT);
    });
    EXPECT_EQ(code, 128 + SIGINT);
    EXPECT_TRUE(asked);
    EXPECT_EQ(disposition(SIGINT), before);
  }
  std::signal(SIGINT, inherited);
}

}  // namespace
}  // namespace fermata
