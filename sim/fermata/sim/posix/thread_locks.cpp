// SPDX-License-Identifier: Apache-2.0

// Mutexes, locks for readers and writers, spin locks. Whoever lets go of one wakes somebody who
// waits for it; until that one runs, others may take it.

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/sim/machine/machine.hpp"
#include "fermata/sim/posix/foreign_threads.hpp"

namespace fermata::sim::detail {

namespace {

// Bits of the word in a mutex, which the C library has as 0, 1 or 2.
constexpr int kLifeBit = std::numeric_limits<int>::min();

constexpr int kKindBits = 3;  // PTHREAD_MUTEX_..., behind which stand other attributes.
constexpr unsigned kMostRecursions = std::numeric_limits<unsigned>::max();
constexpr unsigned kMostReaders = std::numeric_limits<int>::max();

constexpr int kFreeSpinLock = 1;

int kind_of(const pthread_mutex_t& mutex) noexcept { return mutex.__data.__kind & kKindBits; }

}  // namespace

// --- mutexes ---

// What another life has left counts as free; what the C library has locked does not.
bool ForeignThreads::is_locked(pthread_mutex_t& mutex, const char* call) {
  auto& state = mutex.__data;
  if (state.__lock == 0) return false;
  if ((state.__lock & kLifeBit) == 0) {
    machine_.fail(fmt::format("{}(): somebody outside of the simulation holds the mutex", call));
    return false;
  }
  if ((state.__lock & ~kLifeBit) == static_cast<int>(life_)) return true;
  state.__lock = 0;
  state.__owner = 0;
  state.__count = 0;
  return false;
}

int ForeignThreads::take(pthread_mutex_t& mutex, const char* call) {
  auto& state = mutex.__data;
  const int number = static_cast<int>(me());
  if (!is_locked(mutex, call)) {
    state.__lock = kLifeBit | static_cast<int>(life_);
    state.__owner = number;
    state.__count = 1;
    note_taken(&mutex);
    return 0;
  }
  if (state.__owner != number) return EBUSY;
  switch (kind_of(mutex)) {
    case PTHREAD_MUTEX_RECURSIVE:
      if (state.__count == kMostRecursions) return EAGAIN;
      ++state.__count;
      return 0;
    case PTHREAD_MUTEX_ERRORCHECK:
      return EDEADLK;
    default:
      return EBUSY;
  }
}

ThreadWaitFacts ForeignThreads::facts_of(const pthread_mutex_t& mutex, const char* call) const {
  return {.call = call,
          .kind = "mutex",
          .object = &mutex,
          .holder = static_cast<std::uint64_t>(mutex.__data.__owner),
          .held_since = taken_at(&mutex)};
}

void ForeignThreads::note_taken(const void* lock) {
  if (host_.is_read()) taken_at_[lock] = host_.place();
}

SourcePlace ForeignThreads::taken_at(const void* lock) const {
  const auto found = taken_at_.find(lock);
  return found == taken_at_.end() ? SourcePlace{"", "", 0} : found->second;
}

int ForeignThreads::lock(pthread_mutex_t& mutex, const posix::Until& until) {
  constexpr const char* kCall = "pthread_mutex_lock";
  if (begins_in_vain(kCall)) return 0;
  return lock_again(mutex, kCall, until);
}

int ForeignThreads::lock_again(pthread_mutex_t& mutex, const char* call,
                               const posix::Until& until) {
  for (;;) {
    const int code = take(mutex, call);
    if (code != EBUSY) return code;
    const Ended ended = park(facts_of(mutex, call), until);
    leave_if_at_once();
    if (ended == Ended::TimedOut) return ETIMEDOUT;
    if (ended == Ended::Over) return 0;
  }
}

int ForeignThreads::try_lock(pthread_mutex_t& mutex) {
  constexpr const char* kCall = "pthread_mutex_trylock";
  if (begins_in_vain(kCall)) return 0;
  const int code = take(mutex, kCall);
  if (code == EBUSY) host_.idle();
  return code == EDEADLK ? EBUSY : code;
}

// One that nobody holds, or somebody else, is let go all the same, where the kind does not check.
// When the run is over, too: it may be one that the test program uses outside of runs.
int ForeignThreads::unlock(pthread_mutex_t& mutex) {
  constexpr const char* kCall = "pthread_mutex_unlock";
  if (is_in_vain()) {
    const bool is_free = (mutex.__data.__lock & kLifeBit) == 0 || set_free(mutex);
    if (is_free && !over()) wake_one(&mutex, "mutex");
    return 0;
  }
  if (checks_owner(mutex) && !is_own(mutex, kCall)) return EPERM;
  let_go(mutex);
  begin_call(kCall);
  return 0;
}

bool ForeignThreads::checks_owner(const pthread_mutex_t& mutex) noexcept {
  return kind_of(mutex) == PTHREAD_MUTEX_RECURSIVE || kind_of(mutex) == PTHREAD_MUTEX_ERRORCHECK;
}

bool ForeignThreads::is_own(pthread_mutex_t& mutex, const char* call) {
  return is_locked(mutex, call) && mutex.__data.__owner == static_cast<int>(me());
}

void ForeignThreads::let_go(pthread_mutex_t& mutex) {
  FERMATA_ASSERT(life_ != 0);
  if (set_free(mutex)) wake_one(&mutex, "mutex");
}

bool ForeignThreads::set_free(pthread_mutex_t& mutex) noexcept {
  auto& state = mutex.__data;
  if (kind_of(mutex) == PTHREAD_MUTEX_RECURSIVE && --state.__count > 0) return false;
  state.__lock = 0;
  state.__owner = 0;
  state.__count = 0;
  return true;
}

int ForeignThreads::destroy(pthread_mutex_t& mutex) {
  constexpr const char* kCall = "pthread_mutex_destroy";
  if (begins_in_vain(kCall)) return 0;
  if (!is_locked(mutex, kCall)) return 0;
  const auto holder = static_cast<pthread_t>(mutex.__data.__owner);
  machine_.fail(fmt::format("{}() of {}, which '{}' holds", kCall, title_of(&mutex, "mutex"),
                            name_of(holder)));
  return EBUSY;
}

// --- locks for readers and writers ---

namespace {

/// The parts of a pthread_rwlock_t, which the C library has otherwise; all are zero when it is
/// free. Whether writers go first stands in __flags.
struct ReadWriteLock {
  explicit ReadWriteLock(pthread_rwlock_t& lock) noexcept : state(lock.__data) {}
  [[nodiscard]] unsigned& readers() const noexcept { return state.__readers; }
  [[nodiscard]] unsigned& waiting_writers() const noexcept { return state.__writers; }
  [[nodiscard]] unsigned& life() const noexcept { return state.__pad3; }
  [[nodiscard]] int& writer() const noexcept { return state.__cur_writer; }
  [[nodiscard]] bool prefers_writers() const noexcept { return state.__flags != 0; }
  [[nodiscard]] bool is_free() const noexcept { return readers() == 0 && writer() == 0; }
  void clear() const noexcept { readers() = waiting_writers() = life() = writer() = 0; }

  __pthread_rwlock_arch_t& state;
};

}  // namespace

/// Clears what an earlier life has left, and marks it.
void ForeignThreads::adopt(pthread_rwlock_t& lock) noexcept {
  const ReadWriteLock parts(lock);
  if (parts.life() == life_) return;
  parts.clear();
  parts.life() = life_;
  FERMATA_ASSERT(parts.is_free());
}

int ForeignThreads::take_to_read(pthread_rwlock_t& lock) {
  const ReadWriteLock parts(lock);
  adopt(lock);
  if (parts.writer() == static_cast<int>(me())) return EDEADLK;
  if (parts.writer() != 0) return EBUSY;
  if (parts.prefers_writers() && parts.waiting_writers() > 0) return EBUSY;
  if (parts.readers() == kMostReaders) return EAGAIN;
  ++parts.readers();
  return 0;
}

int ForeignThreads::take_to_write(pthread_rwlock_t& lock) {
  const ReadWriteLock parts(lock);
  adopt(lock);
  if (parts.writer() == static_cast<int>(me())) return EDEADLK;
  if (!parts.is_free()) return EBUSY;
  parts.writer() = static_cast<int>(me());
  note_taken(&lock);
  return 0;
}

ThreadWaitFacts ForeignThreads::facts_of(pthread_rwlock_t& lock, const char* call) const {
  const ReadWriteLock parts(lock);
  ThreadWaitFacts facts{.call = call, .kind = "read-write lock", .object = &lock};
  if (parts.writer() != 0) {
    facts.holder = static_cast<std::uint64_t>(parts.writer());
    facts.held_since = taken_at(&lock);
  } else {
    facts.state = fmt::format("{} readers", parts.readers());
  }
  return facts;
}

int ForeignThreads::lock_to_read(pthread_rwlock_t& lock, const posix::Until& until) {
  constexpr const char* kCall = "pthread_rwlock_rdlock";
  if (begins_in_vain(kCall)) return 0;
  for (;;) {
    const int code = take_to_read(lock);
    if (code != EBUSY) return code;
    const Ended ended = park(facts_of(lock, kCall), until);
    leave_if_at_once();
    if (ended == Ended::TimedOut) return ETIMEDOUT;
    if (ended == Ended::Over) return 0;
  }
}

int ForeignThreads::lock_to_write(pthread_rwlock_t& lock, const posix::Until& until) {
  constexpr const char* kCall = "pthread_rwlock_wrlock";
  if (begins_in_vain(kCall)) return 0;
  for (;;) {
    const int code = take_to_write(lock);
    if (code != EBUSY) return code;
    ++ReadWriteLock(lock).waiting_writers();
    const Ended ended = park(facts_of(lock, kCall), until);
    if (ended == Ended::Over) return 0;
    FERMATA_ASSERT(ReadWriteLock(lock).waiting_writers() > 0);
    --ReadWriteLock(lock).waiting_writers();
    const bool gives_up = ended == Ended::TimedOut || ended == Ended::Cancelled;
    if (gives_up) wake_all(&lock);  // Readers may have waited for this one.
    leave_if_at_once();
    if (ended == Ended::TimedOut) return ETIMEDOUT;
  }
}

int ForeignThreads::try_lock_to_read(pthread_rwlock_t& lock) {
  if (begins_in_vain("pthread_rwlock_tryrdlock")) return 0;
  const int code = take_to_read(lock);
  return code == EDEADLK ? EBUSY : code;
}

int ForeignThreads::try_lock_to_write(pthread_rwlock_t& lock) {
  if (begins_in_vain("pthread_rwlock_trywrlock")) return 0;
  const int code = take_to_write(lock);
  return code == EDEADLK ? EBUSY : code;
}

int ForeignThreads::unlock(pthread_rwlock_t& lock) {
  constexpr const char* kCall = "pthread_rwlock_unlock";
  if (is_in_vain()) return 0;
  const ReadWriteLock parts(lock);
  adopt(lock);
  if (parts.writer() != 0) {
    parts.writer() = 0;
  } else if (parts.readers() > 0) {
    --parts.readers();
  }
  if (parts.is_free()) wake_all(&lock);
  begin_call(kCall);
  return 0;
}

// --- spin locks ---

int ForeignThreads::lock(pthread_spinlock_t& lock) {
  constexpr const char* kCall = "pthread_spin_lock";
  if (begins_in_vain(kCall)) return 0;
  while (lock != kFreeSpinLock) {
    const Ended ended =
        park({.call = kCall, .kind = "spin lock", .object = const_cast<int*>(&lock)}, {});
    leave_if_at_once();
    if (ended == Ended::Over) return 0;
  }
  lock = 0;
  return 0;
}

int ForeignThreads::try_lock(pthread_spinlock_t& lock) {
  if (begins_in_vain("pthread_spin_trylock")) return 0;
  if (lock != kFreeSpinLock) {
    host_.idle();
    return EBUSY;
  }
  lock = 0;
  return 0;
}

int ForeignThreads::unlock(pthread_spinlock_t& lock) {
  constexpr const char* kCall = "pthread_spin_unlock";
  if (is_in_vain()) return 0;
  lock = kFreeSpinLock;
  wake_one(const_cast<int*>(&lock), "spin lock");
  begin_call(kCall);
  return 0;
}

}  // namespace fermata::sim::detail
