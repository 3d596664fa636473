// SPDX-License-Identifier: Apache-2.0
#pragma once

// A queue between the coroutines of several threads.
//
//   fermata::ThreadChannel<Job> jobs(16);
//   auto worker = fermata::spawn_thread([jobs] {
//     while (auto job = jobs.next()) job->run();
//   });
//   jobs.send(std::move(job));
//   jobs.close();
//
// Handles    Copies are the same channel, on any thread. Its values must be transferable and move
//            without throwing.
// Order      Values arrive in the order in which they were accepted, that is, in which the threads
//            took the channel's lock. On each side first come, first served: one waiter is woken
//            for one value or slot, which is its own, so no newcomer takes it; when that waiter is
//            cancelled it goes to the next (TC-01 to TC-03).
// Waiting    send, recv and next suspend their coroutine only. What has happened wins: a token or a
//            timeout that comes after the grant is not heard.
// Closing    send fails at once, also for those who wait; what is in it can still be received
//            (TC-04). It closes with the run of the thread that made it.
// Source     TC-01 to TC-04.

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "fermata/base/error.hpp"
#include "fermata/io/thread_channel_core.hpp"
#include "fermata/io/transferable.hpp"
#include "fermata/sync/ring.hpp"

namespace fermata {

namespace detail {

template <class T>
class ThreadChannelOf final : public ThreadChannelCore {
 public:
  ThreadChannelOf(std::size_t capacity, const SourcePlace& place)
      : ThreadChannelCore(capacity, place), ring_(capacity) {}
  ~ThreadChannelOf() {
    for (std::size_t each = left(); each > 0; --each) static_cast<void>(ring_.pop());
  }

  void send(T&& value, const WaitOptions& options, const SourcePlace& place) {
    Lock held = lock();
    await_slot(held, options, place);
    store(std::move(value));
  }
  [[nodiscard]] bool try_send(T&& value) {
    const Lock held = lock();
    if (!has_slot()) return false;
    store(std::move(value));
    return true;
  }
  [[nodiscard]] T recv(const WaitOptions& options, const SourcePlace& place) {
    Lock held = lock();
    await_value(held, options, place);
    return take();
  }
  [[nodiscard]] std::optional<T> try_recv() {
    const Lock held = lock();
    if (!has_value()) return std::nullopt;
    return take();
  }

 private:
  void store(T&& value) noexcept {
    ring_.push(std::move(value));
    stored();
  }
  [[nodiscard]] T take() noexcept {
    T value = ring_.pop();
    taken();
    return value;
  }

  Ring<T> ring_;
};

}  // namespace detail

template <class T>
class ThreadChannel {
  static_assert(Transferable<T>, "values must not belong to one thread");

 public:
  using Value = T;

  /// Throws UsageError when `capacity` is 0, and outside of a run.
  explicit ThreadChannel(std::size_t capacity = 16, SourcePlace place = SourcePlace::current()) {
    backend::Threads& threads = current_runtime().reactor().threads();
    core_ = std::make_shared<Core>(capacity, place);
    threads.end_with_run(core_);
  }

  /// Suspends while it is full. Moves from `value` only when the channel takes it. Throws
  /// ThreadChannelError when it is closed, Timeout, OperationCancelled, Cancellation.
  void send(T&& value, const WaitOptions& options = {},
            SourcePlace place = SourcePlace::current()) const {
    core_->send(std::move(value), options, place);
  }
  void send(const T& value, const WaitOptions& options = {},
            SourcePlace place = SourcePlace::current()) const {
    core_->send(T(value), options, place);
  }
  /// False, and `value` is untouched, when it is full. From any thread, with a runtime or without.
  [[nodiscard]] bool try_send(T&& value) const { return core_->try_send(std::move(value)); }
  [[nodiscard]] bool try_send(const T& value) const { return core_->try_send(T(value)); }

  /// Suspends while it is empty. Throws ThreadChannelError when it is closed and nothing is left.
  [[nodiscard]] T recv(const WaitOptions& options = {},
                       SourcePlace place = SourcePlace::current()) const {
    return core_->recv(options, place);
  }
  /// Receives the next value like recv(), but gives nothing when the channel is closed and empty.
  [[nodiscard]] std::optional<T> next(const WaitOptions& options = {},
                                      SourcePlace place = SourcePlace::current()) const {
    try {
      return core_->recv(options, place);
    } catch (const ThreadChannelError&) {
      return std::nullopt;
    }
  }
  /// Nothing when there is nothing for a newcomer; else as recv. As try_send.
  [[nodiscard]] std::optional<T> try_recv() const { return core_->try_recv(); }

  /// Closes the channel. Idempotent; callable from any thread.
  void close() const { core_->close(); }
  [[nodiscard]] bool is_closed() const { return core_->is_closed(); }
  /// Values in it now, promised ones too.
  [[nodiscard]] std::size_t size() const { return core_->size(); }
  [[nodiscard]] std::size_t capacity() const { return core_->capacity(); }

 private:
  using Core = detail::ThreadChannelOf<T>;
  std::shared_ptr<Core> core_;
};

}  // namespace fermata
