// SPDX-License-Identifier: Apache-2.0
#pragma once

// The least that may be called a channel: a ring, and coroutines of mini in line on both sides. It
// promises nothing, is never closed, and nobody in line can be cancelled.

#include <cstddef>
#include <utility>
#include <vector>

#include "bench/floor/mini.hpp"

namespace bench::mini {

template <class T>
class Channel {
 public:
  Channel(Scheduler& scheduler, std::size_t capacity) : scheduler_(scheduler), ring_(capacity) {}

  [[gnu::noinline]] void send(T value) {
    while (count_ == ring_.size()) senders_.wait(scheduler_);
    ring_[tail_] = std::move(value);
    if (++tail_ == ring_.size()) tail_ = 0;
    ++count_;
    receivers_.wake(scheduler_);
  }

  [[gnu::noinline]] T recv() {
    while (count_ == 0) receivers_.wait(scheduler_);
    T value = std::move(ring_[head_]);
    if (++head_ == ring_.size()) head_ = 0;
    --count_;
    senders_.wake(scheduler_);
    return value;
  }

 private:
  /// Who is parked is in no list of the scheduler: its link is free.
  struct Line {
    void wait(Scheduler& scheduler) {
      Coroutine* me = scheduler.current();
      me->next = nullptr;
      *last = me;
      last = &me->next;
      scheduler.park();
    }
    void wake(Scheduler& scheduler) {
      Coroutine* oldest = first;
      if (oldest == nullptr) return;
      first = oldest->next;
      if (first == nullptr) last = &first;
      scheduler.wake(oldest);
    }
    Coroutine* first = nullptr;
    Coroutine** last = &first;
  };

  Scheduler& scheduler_;
  std::vector<T> ring_;
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
  std::size_t count_ = 0;
  Line receivers_;
  Line senders_;
};

}  // namespace bench::mini
