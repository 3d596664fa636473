// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a ThreadChannel is, but for its values. Everything under its lock.
//
// Promises   A value or a slot that a woken waiter has been granted is nobody else's; it is granted
//            as soon as there is one and somebody waits (TC-03).

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "fermata/core/wait_facts.hpp"
#include "fermata/io/thread_line.hpp"
#include "fermata/reactor/threads.hpp"
#include "fermata/system/mutex.hpp"

namespace fermata::detail {

class ThreadChannelCore : public backend::EndsWithRun {
 public:
  ThreadChannelCore(const ThreadChannelCore&) = delete;
  ThreadChannelCore& operator=(const ThreadChannelCore&) = delete;

  void close() noexcept;
  [[nodiscard]] bool is_closed() const;
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

 protected:
  using Lock = ThreadLine::Lock;

  /// Throws UsageError unless `capacity` is at least 1.
  ThreadChannelCore(std::size_t capacity, const SourcePlace& place);
  ~ThreadChannelCore() = default;

  [[nodiscard]] Lock lock() const { return Lock(mutex_, ScopeEnd::JoinsWhatFollows); }

  /// Values in it, when nobody uses it any more.
  [[nodiscard]] std::size_t left() const noexcept { return size_; }

  // With the lock held. The await functions may release it meanwhile.

  /// Returns when there is a slot for the caller's value. Throws ThreadChannelError once closed.
  void await_slot(Lock& held, const WaitOptions& options, const SourcePlace& place);
  /// Returns when there is a value for the caller. Throws ThreadChannelError once the channel is
  /// closed and empty.
  void await_value(Lock& held, const WaitOptions& options, const SourcePlace& place);
  /// Whether there is a slot; does not wait, and throws like the functions above.
  [[nodiscard]] bool has_slot() const;
  [[nodiscard]] bool has_value() const;
  void stored() noexcept;
  void taken() noexcept;

 private:
  class Side;
  /// What a person of the wait log has done with this channel.
  struct Dealings {
    backend::WaitPerson person;
    bool sent = false;
    bool received = false;
  };

  void explain(backend::WaitFacts& facts, bool sends) const;
  void note(bool Dealings::*deed);
  void await(Lock& held, ThreadLine& line, const char* what, const WaitOptions& options,
             const SourcePlace& place);
  void run_ends() noexcept override { close(); }
  void keep_promises() noexcept;

  mutable os::Mutex mutex_;
  const std::size_t capacity_;
  std::size_t size_ = 0;
  bool closed_ = false;
  ThreadLine senders_;
  ThreadLine receivers_;
  const SourcePlace place_;
  std::vector<Dealings> dealings_;  // Empty where nobody keeps a log.
};

}  // namespace fermata::detail
