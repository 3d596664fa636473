// SPDX-License-Identifier: Apache-2.0
#include "fermata/db/odbc/worker.hpp"

#include <algorithm>
#include <chrono>

#include "fermata/base/assert.hpp"

namespace fermata::db::odbc {

namespace {

constexpr Duration kFirstPause = std::chrono::milliseconds(20);
constexpr int kStops = 9;  // The pauses double: ten seconds.

}  // namespace

void Worker::Progress::end() noexcept {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  told_.notify_all();
}

bool Worker::Progress::stop(const std::function<void()>& stop) {
  const std::lock_guard lock(mutex_);
  if (!ended_) stop();
  return !ended_;
}

bool Worker::Progress::ended_after(Duration span) {
  std::unique_lock lock(mutex_);
  return told_.wait_for(lock, span, [this] { return ended_; });
}

Ref<backend::Task> Worker::start_stopping(std::function<void()> stop) {
  FERMATA_ASSERT(is_busy());
  // What has begun with a call only after a stop needs another one.
  auto repeat = [progress = progress_, stop = std::move(stop)]() mutable {
    const std::function<void()> once = std::move(stop);
    Duration pause = kFirstPause;
    for (int stops = 0; stops < kStops; ++stops) {
      if (!progress->stop(once) || progress->ended_after(pause)) return;
      pause *= 2;
    }
  };
  using TaskType = fermata::detail::TaskOf<decltype(repeat), void>;
  const auto task =
      Ref<TaskType>::adopt(*new TaskType(current_runtime().reactor().offload(), std::move(repeat)));
  task->start();
  return Ref<backend::Task>::share(*task);
}

bool Worker::stop_until(Instant limit, const std::function<void()>& stop) {
  if (!is_busy()) return true;
  const Ref<backend::Task> stopper = start_stopping(stop);
  Duration pause = kFirstPause;
  bool no_worker = false;
  for (;;) {
    const Duration left = std::max(limit - now(), Duration::zero());
    if (ended_within(std::min(pause, left))) return true;
    if (left == Duration::zero()) return false;
    no_worker = no_worker || stopper->cancel();
    if (no_worker) stop();
    pause *= 2;
  }
}

bool Worker::ended_within(Duration span) {
  try {
    wait(*running_, {.timeout = span, .token = nullptr});
  } catch (const Timeout&) {
    return !is_busy();
  } catch (const Error&) {
    return !is_busy();
  }
  return true;
}

}  // namespace fermata::db::odbc
