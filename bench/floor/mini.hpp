// SPDX-License-Identifier: Apache-2.0
#pragma once

// mini: the least that may be called a stackful scheduler, and the floor of most ratios here.
//
// It has an intrusive ready list, direct coroutine-to-coroutine switches, pooled coloured stacks
// and a timer heap. It has no cancellation, scopes, errors or I/O: what Fermata costs above it is
// the price of those. Its own honesty is gated against raw.hpp by run.py.

#include <time.h>

#include <boost/context/detail/fcontext.hpp>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <utility>

#include "bench/floor/random.hpp"
#include "bench/floor/stacks.hpp"
#include "bench/floor/timer_heap.hpp"

namespace bench::mini {

namespace ctx = boost::context::detail;

struct alignas(64) Coroutine {
  ctx::fcontext_t context = nullptr;  ///< Null until the first step.
  Coroutine* next = nullptr;          ///< In the ready list or the free list.
  Coroutine* awaiter = nullptr;
  char* stack = nullptr;
  std::function<void()> body;
};

enum class Time { Virtual, Real };

/// Public calls that switch are real calls, as those of any scheduler in a library are.
class Scheduler final {
 public:
  explicit Scheduler(Time time = Time::Virtual) : time_(time) {}
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// The thread's own stack is a coroutine like the others.
  Coroutine* current() { return current_; }

  /// The coroutine is freed when it ends.
  template <class Body>
  [[gnu::noinline]] Coroutine* spawn(Body body) {
    Coroutine* coroutine = std::exchange(free_, free_ ? free_->next : nullptr);
    if (coroutine == nullptr) coroutine = &coroutines_.emplace_back();
    // Built in place: moving a std::function costs a store-forwarding stall of some 10 ns.
    std::construct_at(&coroutine->body, std::move(body));
    push_ready(coroutine);
    return coroutine;
  }

  [[gnu::noinline]] void yield() {
    push_ready(current_);
    switch_to(pop_ready());
  }

  [[gnu::noinline]] void park() { switch_to(pop_ready()); }

  void wake(Coroutine* parked) { push_ready(parked); }

  /// REQUIRES: `coroutine` has not ended and nobody else awaits it.
  [[gnu::noinline]] void await(Coroutine* coroutine) {
    coroutine->awaiter = current_;
    switch_to(pop_ready());
  }

  [[gnu::noinline]] void sleep(std::int64_t nanoseconds) {
    timers_.push(now() + nanoseconds, current_);
    switch_to(pop_ready());
  }

  /// From now on the next coroutine is drawn from the whole ready list.
  void choose_at_random(std::uint64_t seed) {
    random_ = Random(seed);
    chooses_ = true;
  }

  std::uint64_t trace_hash() const { return trace_hash_; }

 private:
  void push_ready(Coroutine* coroutine) {
    coroutine->next = nullptr;
    *tail_ = coroutine;
    tail_ = &coroutine->next;
    ++ready_;
  }

  Coroutine* pop_ready() {
    while (head_ == nullptr) fire_earliest();
    Coroutine** link = &head_;
    if (chooses_) {
      for (std::uint64_t skip = random_.below(ready_); skip > 0; --skip) link = &(*link)->next;
    }
    Coroutine* chosen = *link;
    *link = chosen->next;
    if (chosen->next == nullptr) tail_ = link;
    --ready_;
    return chosen;
  }

  void switch_to(Coroutine* target) {
    if (target == current_) return;
    from_ = std::exchange(current_, target);
    if (target->context == nullptr) start(target);
    arrive(ctx::jump_fcontext(target->context, this));
  }

  void arrive(ctx::transfer_t transfer) {
    from_->context = transfer.fctx;
    if (ended_ != nullptr) release(std::exchange(ended_, nullptr));
  }

  void start(Coroutine* coroutine) {
    coroutine->stack = stacks_.take();
    coroutine->context = ctx::make_fcontext(coroutine->stack, StackPool::kUsableBytes, &enter);
  }

  /// A stack is given back by whoever runs next: its owner still stands on it.
  void release(Coroutine* coroutine) {
    stacks_.give(coroutine->stack);
    coroutine->context = nullptr;
    coroutine->next = std::exchange(free_, coroutine);
  }

  static void enter(ctx::transfer_t transfer) {
    auto* self = static_cast<Scheduler*>(transfer.data);
    self->arrive(transfer);
    Coroutine* me = self->current_;
    me->body();
    me->body = nullptr;
    if (me->awaiter != nullptr) self->push_ready(std::exchange(me->awaiter, nullptr));
    self->ended_ = me;
    self->switch_to(self->pop_ready());
    std::abort();
  }

  void fire_earliest() {
    if (timers_.empty()) std::abort();
    const auto timer = timers_.pop();
    if (time_ == Time::Real) sleep_until(timer.deadline);
    now_ = timer.deadline;
    trace_hash_ = (trace_hash_ ^ timer.order ^ static_cast<std::uint64_t>(now_)) * kHashFactor;
    push_ready(timer.target);
  }

  std::int64_t now() const {
    if (time_ == Time::Virtual) return now_;
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * kSecond + time.tv_nsec;
  }

  void sleep_until(std::int64_t deadline) const {
    if (deadline <= now()) return;
    const timespec time{deadline / kSecond, deadline % kSecond};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr);
  }

  static constexpr std::int64_t kSecond = 1'000'000'000;
  static constexpr std::uint64_t kHashFactor = 0x9e3779b97f4a7c15;

  Coroutine main_;
  Coroutine* current_ = &main_;
  Coroutine* from_ = nullptr;
  Coroutine* ended_ = nullptr;
  Coroutine* head_ = nullptr;
  Coroutine** tail_ = &head_;
  std::uint64_t ready_ = 0;
  bool chooses_ = false;
  const Time time_;
  Coroutine* free_ = nullptr;
  std::int64_t now_ = 0;
  std::uint64_t trace_hash_ = 0;
  TimerHeap<Coroutine> timers_;
  Random random_;
  std::deque<Coroutine> coroutines_;
  StackPool stacks_;
};

}  // namespace bench::mini
