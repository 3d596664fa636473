// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the threads of a pool write together: what has become of each task.
//
// Life of a task  pending (accepted, or waiting to be) -> running -> completed or cancelled; or
//                 pending -> cancelled or rejected. Each change is one step under the lock, and
//                 comes before the future is told (TP-01, TP-08).

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>

#include "fermata/core/wait_facts.hpp"
#include "fermata/io/thread_line.hpp"
#include "fermata/reactor/trigger.hpp"
#include "fermata/system/mutex.hpp"

namespace fermata {

struct ThreadPoolCounters {
  std::uint64_t submitted = 0;  // The sum of all others.
  std::uint64_t pending = 0;
  std::uint64_t running = 0;
  std::uint64_t completed = 0;  // Ran to their end, with a result or an error.
  std::uint64_t cancelled = 0;  // Before they began, or by a cancellation that ended them.
  std::uint64_t rejected = 0;   // Nobody was left to run them.
};

namespace detail {

/// The Cancellation of a task that will never begin.
[[nodiscard]] std::exception_ptr not_begun();

/// One task on its way to a worker and back.
class ThreadPoolTask {
 public:
  virtual ~ThreadPoolTask() = default;
  /// `trigger` is fired when nobody wants the task any more; false when nobody does now.
  [[nodiscard]] virtual bool bind_cancel(backend::TriggerHandle& trigger) = 0;
  virtual void unbind_cancel() = 0;
  /// Reports say that it is up to `queue` until it is called.
  virtual void queued_at(std::shared_ptr<const backend::WaitSubject> queue) = 0;
  /// Runs it and keeps what comes of it; throws nothing but ForcedUnwind.
  virtual void call() = 0;
  /// Fails the task with `error`, unless it has failed already.
  virtual void fail(std::exception_ptr error) = 0;
  [[nodiscard]] virtual bool is_cancelled() const = 0;
  /// Tells the future what has come of it. Nothing may follow.
  virtual void settle() = 0;
};

class ThreadPoolLedger final : public backend::WaitSubject {
 public:
  /// A task that runs; cancel_running() fires its trigger.
  struct Running {
    Link<Running> link;
    backend::TriggerHandle* trigger;
    backend::WaitPerson person = {};  // Nobody where no log is kept.
  };
  enum class Fate : std::uint8_t { Completed, Cancelled, Rejected };

  [[nodiscard]] ThreadPoolCounters counters() const;

  void submitted();
  /// Takes back a task that was not accepted, as if it had never been submitted.
  void withdrawn();
  /// A pending one has ended.
  void dropped(Fate fate);

  /// A pending one begins; false when the pool is cancelled.
  [[nodiscard]] bool begin(Running& running);
  void end(Running& running, Fate fate);
  /// Reports say that the current coroutine runs it.
  void taken_up(Running& running);

  /// No task begins any more, and those that run are to be cancelled.
  void cancel();

  /// A task that has not begun is in the hands of those that run.
  void explain_wait(backend::WaitFacts& facts) const override;

 private:
  using Lock = ThreadsLock<os::Mutex>;
  [[nodiscard]] Lock lock() const { return Lock(mutex_, ScopeEnd::JoinsWhatFollows); }
  std::uint64_t& count(Fate fate) noexcept;

  mutable os::Mutex mutex_;
  ThreadPoolCounters counters_;
  IntrusiveList<Running, &Running::link> running_;
  bool cancelled_ = false;
};

}  // namespace detail
}  // namespace fermata
