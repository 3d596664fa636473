// SPDX-License-Identifier: Apache-2.0
#include "fermata/os/watchdog.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "fermata/core/coroutine.hpp"
#include "fermata/os/no_signals.hpp"

namespace fermata::os {

WatchdogThread::WatchdogThread(Duration limit, Report report)
    : limit_(limit), report_(std::move(report)) {
  const NoSignals guard;
  thread_ = std::thread([this] { watch(); });
}

WatchdogThread::~WatchdogThread() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  end_.notify_one();
  thread_.join();
}

// A sequence lock: Hans-J. Boehm, "Can seqlocks get along with programming language memory models?"
void WatchdogThread::begin(const CoroutineBase* coroutine) noexcept {
  const std::uint64_t number = step_.number.load(std::memory_order_relaxed);
  step_.number.store(number + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  if (coroutine != nullptr) {
    step_.file.store(coroutine->spawn_place().file, std::memory_order_relaxed);
    step_.line.store(coroutine->spawn_place().line, std::memory_order_relaxed);
  }
  step_.coroutine.store(coroutine != nullptr ? coroutine->id() : 0, std::memory_order_relaxed);
  step_.number.store(number + 2, std::memory_order_release);
}

void WatchdogThread::watch() {
  std::unique_lock lock(mutex_);
  while (!end_.wait_for(lock, limit_, [this] { return ending_; })) look();
}

// What runs at two looks in a row has lasted for the time between them.
void WatchdogThread::look() {
  const std::uint64_t number = step_.number.load(std::memory_order_acquire);
  const std::uint64_t coroutine = step_.coroutine.load(std::memory_order_relaxed);
  const char* const file = step_.file.load(std::memory_order_relaxed);
  const std::int64_t line = step_.line.load(std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_acquire);
  const bool whole = number % 2 == 0 && step_.number.load(std::memory_order_relaxed) == number;
  if (!whole) return;
  if (std::exchange(seen_, number) != number || coroutine == 0 || reported_ == number) return;
  reported_ = number;
  const auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(limit_);
  report_(
      fmt::format("slow step: coroutine {} spawned at {}:{} has been running for more than {} "
                  "ms and still runs",
                  coroutine, file, line, limit.count()));
}

}  // namespace fermata::os
