// SPDX-License-Identifier: Apache-2.0
#pragma once

// Small native work between two switches (CORE-SC-04 to 06).
//
// Ordering    First in, first out; tasks added by tasks run in the same drain.
// Suspension  A task must not suspend; it may spawn, wake, cancel and queue more tasks.
// Errors      An exception ends the drain; the rest stays queued for the next one (CORE-SC-06).

#include <cstddef>
#include <cstdint>
#include <deque>

#include "fermata/base/assert.hpp"

namespace fermata::backend {

/// Reference counted: its creator and each queued entry hold one reference.
class Microtask {
 public:
  Microtask() = default;
  Microtask(const Microtask&) = delete;
  Microtask& operator=(const Microtask&) = delete;

  virtual void run() = 0;

  /// Queued entries are skipped from now on; later ones are accepted and ignored.
  void cancel() noexcept { cancelled_ = true; }
  [[nodiscard]] bool is_cancelled() const noexcept { return cancelled_; }

  void add_ref() noexcept { ++ref_count_; }
  void release() noexcept {
    FERMATA_ASSERT(ref_count_ > 0);
    if (--ref_count_ == 0) destroy();
  }
  [[nodiscard]] std::uint32_t ref_count() const noexcept { return ref_count_; }

 protected:
  virtual ~Microtask() = default;
  virtual void destroy() noexcept { delete this; }

 private:
  std::uint32_t ref_count_ = 1;
  bool cancelled_ = false;
};

}  // namespace fermata::backend

namespace fermata {

namespace detail {

class MicrotaskQueue {
 public:
  MicrotaskQueue() = default;
  MicrotaskQueue(const MicrotaskQueue&) = delete;
  MicrotaskQueue& operator=(const MicrotaskQueue&) = delete;
  ~MicrotaskQueue() { clear(); }

  /// A cancelled task is accepted and not queued. The same task may be queued several times.
  void push(backend::Microtask& task);

  /// Takes the first task out and runs it, unless it is cancelled; its reference is dropped either
  /// way. REQUIRES: not empty.
  void run_first();

  void clear() noexcept;
  [[nodiscard]] bool empty() const noexcept { return tasks_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return tasks_.size(); }

 private:
  std::deque<backend::Microtask*> tasks_;
};

}  // namespace detail

}  // namespace fermata
