// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <chrono>
#include <functional>
#include <span>

#include "fermata/posix/kernel.hpp"

namespace fermata::posix {

/// How calls of the system wait: the coroutine does, or the thread.
class Waiter {
 public:
  /// Waits until poll() would tell something of one of `asked`. 0, -ETIMEDOUT or another negative
  /// errno.
  virtual int wait(std::span<const pollfd> asked, Limit limit) = 0;
  /// 0 or a negative errno.
  virtual int sleep(std::chrono::nanoseconds span) = 0;
  /// Calls `work`, which blocks its thread, and waits for it. 0 or a negative errno; then `work`
  /// may run on, with what it has captured.
  virtual int run_blocking(std::function<void()> work) = 0;
  /// Nothing has to be waited for, and others may want to run.
  virtual void yield() = 0;
  /// What a call answers that has to wait now: 0, unless nothing is waited for any more; then a
  /// negative errno.
  virtual int refusal() = 0;
  /// Whether descriptors that are made get a disguise.
  [[nodiscard]] virtual bool disguises_descriptors() const noexcept = 0;

 protected:
  ~Waiter() = default;
};

/// Blocks the thread.
class BlockingWaiter final : public Waiter {
 public:
  int wait(std::span<const pollfd> asked, Limit limit) override;
  int sleep(std::chrono::nanoseconds span) override;
  int run_blocking(std::function<void()> work) override;
  void yield() override {}
  int refusal() override { return 0; }
  [[nodiscard]] bool disguises_descriptors() const noexcept override { return false; }
};

}  // namespace fermata::posix
