// SPDX-License-Identifier: Apache-2.0

// What threads tell each other by: condition variables, semaphores, barriers, futexes.

#include <fmt/format.h>

#include <algorithm>
#include <climits>

#include "fermata/base/assert.hpp"
#include "fermata/sim/machine/machine.hpp"
#include "fermata/sim/posix/foreign_signals.hpp"
#include "fermata/sim/posix/foreign_threads.hpp"

namespace fermata::sim::detail {

// --- condition variables ---

namespace {

/// A bit that pthread_cond_init() sets for the monotonic clock.
constexpr unsigned kMonotonicBit = 2;

}  // namespace

int ForeignThreads::wait(pthread_cond_t& condition, pthread_mutex_t& mutex,
                         const posix::Until& until) {
  constexpr const char* kCall = "pthread_cond_wait";
  host_.leave_if_endless();
  if (begins_in_vain(kCall)) return 0;
  if (current_runtime().current() == nullptr) return -host_.refuse_wait(kCall);
  if (checks_owner(mutex) && !is_own(mutex, kCall)) return EPERM;
  Ended ended = Ended::Woken;
  {
    std::optional<ThreadWait> wait(
        std::in_place, current_runtime(), lines_,
        ThreadWaitFacts{.call = kCall, .kind = "condition variable", .object = &condition});
    let_go(mutex);
    ended = park(wait, kCall, until, Interruption::Wakes);
  }
  if (ended == Ended::Over) {
    host_.leave_if_endless();
    return 0;
  }
  const int code = lock_again(mutex, "pthread_mutex_lock", {});
  if (code != 0) return code;
  if (ended != Ended::Woken) host_.leave_if_endless();  // The wake would be lost.
  return ended == Ended::TimedOut ? ETIMEDOUT : 0;
}

int ForeignThreads::signal(pthread_cond_t& condition, bool all) {
  const char* const call = all ? "pthread_cond_broadcast" : "pthread_cond_signal";
  if (is_in_vain()) return 0;
  if (all) {
    wake_all(&condition);
  } else {
    wake_one(&condition, "condition variable");
  }
  begin_call(call);
  return 0;
}

int ForeignThreads::destroy(pthread_cond_t& condition) {
  constexpr const char* kCall = "pthread_cond_destroy";
  if (begins_in_vain(kCall)) return 0;
  if (const WaitLines::Line* const line = lines_.find(&condition)) {
    machine_.fail(fmt::format("{}() of {}, for which '{}' waits", kCall,
                              title_of(&condition, "condition variable"),
                              name_of(line->front()->coroutine())));
  }
  return 0;
}

clockid_t ForeignThreads::clock_of(const pthread_cond_t& condition) noexcept {
  return (condition.__data.__wrefs & kMonotonicBit) != 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

// --- semaphores ---

namespace {

/// The count, which stands first in a semaphore of the C library.
unsigned& count_of(sem_t& semaphore) noexcept { return reinterpret_cast<unsigned&>(semaphore); }

}  // namespace

int ForeignThreads::wait(sem_t& semaphore, const posix::Until& until) {
  constexpr const char* kCall = "sem_wait";
  host_.leave_if_endless();
  if (begins_in_vain(kCall)) return 0;
  while (count_of(semaphore) == 0) {
    if (current_runtime().current() == nullptr) return -host_.refuse_wait(kCall);
    const CoroutineBase& self = *current_runtime().current();
    const bool was_cancelled = self.is_cancellation_requested();
    switch (park_once({.call = kCall, .kind = "semaphore", .object = &semaphore}, until,
                      Interruption::Wakes)) {
      case Ended::Woken:  // And maybe cancelled as well, which no further wait is told.
        if (count_of(semaphore) == 0) host_.leave_if_endless();
        break;
      case Ended::TimedOut:
        return ETIMEDOUT;
      case Ended::Interrupted:
        if (!until && host_.foreign_signals().may_restart()) break;
        return EINTR;
      case Ended::Cancelled:
        host_.leave_if_endless();
        return was_cancelled ? ECANCELED : EINTR;
      case Ended::Over:
        host_.leave_if_endless();
        return EINTR;
    }
  }
  FERMATA_ASSERT(count_of(semaphore) > 0);
  --count_of(semaphore);
  return 0;
}

int ForeignThreads::try_wait(sem_t& semaphore) {
  if (begins_in_vain("sem_trywait")) return 0;
  if (count_of(semaphore) == 0) {
    host_.idle();
    return EAGAIN;
  }
  --count_of(semaphore);
  return 0;
}

int ForeignThreads::post(sem_t& semaphore) {
  constexpr const char* kCall = "sem_post";
  if (is_in_vain()) return 0;
  if (count_of(semaphore) == SEM_VALUE_MAX) return EOVERFLOW;
  ++count_of(semaphore);
  wake_one(&semaphore, "semaphore");
  begin_call(kCall);
  return 0;
}

// --- barriers ---

namespace {

/// What the C library has in a barrier.
struct Barrier {
  unsigned arrived;
  unsigned round;
  unsigned parties;
  int shared;
  unsigned out;
};
static_assert(sizeof(Barrier) <= sizeof(pthread_barrier_t));

Barrier& parts_of(pthread_barrier_t& barrier) noexcept {
  return reinterpret_cast<Barrier&>(barrier);
}

}  // namespace

int ForeignThreads::wait(pthread_barrier_t& barrier) {
  constexpr const char* kCall = "pthread_barrier_wait";
  if (begins_in_vain(kCall)) return 0;
  Barrier& parts = parts_of(barrier);
  if (++parts.arrived == parts.parties) {
    parts.arrived = 0;
    ++parts.round;
    wake_all(&barrier);
    begin_call(kCall);
    return PTHREAD_BARRIER_SERIAL_THREAD;
  }
  const unsigned round = parts.round;
  for (;;) {
    const Ended ended =
        park({.call = kCall,
              .kind = "barrier",
              .object = &barrier,
              .state = fmt::format("{} of {} threads arrived", parts.arrived, parts.parties)},
             {});
    leave_if_at_once();
    if (ended != Ended::Cancelled && ended != Ended::Interrupted) return 0;
    if (parts.round != round) return 0;
  }
}

int ForeignThreads::destroy(pthread_barrier_t& barrier) {
  constexpr const char* kCall = "pthread_barrier_destroy";
  if (begins_in_vain(kCall)) return 0;
  if (const WaitLines::Line* const line = lines_.find(&barrier)) {
    machine_.fail(fmt::format("{}() of {}, at which '{}' waits", kCall,
                              title_of(&barrier, "barrier"), name_of(line->front()->coroutine())));
  }
  return 0;
}

// --- futexes ---

int ForeignThreads::wait(const std::uint32_t* word, std::uint32_t expected, std::uint32_t bits,
                         const posix::Until& until) {
  constexpr const char* kCall = "futex";
  if (begins_in_vain(kCall)) return EINTR;
  if (*word != expected) {
    host_.idle();
    return EAGAIN;
  }
  if (current_runtime().current() == nullptr) return -host_.refuse_wait(kCall);
  // Many wait in a loop that no error ends.
  const bool was_cancelled = current_runtime().current()->is_cancellation_requested();
  const Interruption interruption = was_cancelled ? Interruption::Deferred : Interruption::Wakes;
  switch (park_once({.call = kCall, .kind = "futex", .object = word}, until, interruption, bits)) {
    case Ended::Woken:
      return 0;
    case Ended::TimedOut:
      return ETIMEDOUT;
    default:
      return EINTR;
  }
}

int ForeignThreads::wake(const std::uint32_t* word, int most, std::uint32_t bits) {
  constexpr const char* kCall = "futex";
  if (is_in_vain()) return 0;
  int woken = 0;
  FERMATA_ASSERT(word != nullptr);
  while (woken < most) {
    const WaitLines::Line* const line = lines_.find(word);
    if (line == nullptr) break;
    const auto found = std::find_if(line->begin(), line->end(), [&](const ThreadWait* each) {
      return (each->bits() & bits) != 0;
    });
    if (found == line->end()) break;
    lines_.wake(**found);
    ++woken;
  }
  begin_call(kCall);
  return woken;
}

}  // namespace fermata::sim::detail
