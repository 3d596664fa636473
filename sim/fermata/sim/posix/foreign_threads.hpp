// SPDX-License-Identifier: Apache-2.0
#pragma once

// Threads of a simulated process, for code that was not written for Fermata, and all that they wait
// for. A thread is a coroutine of the process; what a coroutine does here, it does as a thread.
//
// Switches   Each call here may let other coroutines run first, as soon as the process has made a
//            thread; so may each other served call. Between calls nothing is interrupted.
// State      Stands in the objects, where those of the C library have theirs; a lock that was held
//            in another life of the process is free.
// Number     A thread's number, its pthread_t, is the id of its coroutine.
// The end    Threads end with their process: when no coroutine is left that is not a thread, or by
//            force. Then a thread leaves its code by an exception, in a call that may throw.

#include <array>
#include <cstdint>
#include <exception>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fermata/base/time.hpp"
#include "fermata/core/coroutine.hpp"
#include "fermata/core/soft_resolver.hpp"
#include "fermata/posix/threads.hpp"
#include "fermata/sim/posix/thread_host.hpp"
#include "fermata/sim/posix/thread_wait.hpp"

namespace fermata::sim::detail {

class Machine;

class ForeignThreads final : public posix::Threads, private fermata::detail::SoftResolver {
 public:
  ForeignThreads(ThreadHost& host, Machine& machine) noexcept : host_(host), machine_(machine) {}

  /// A process begins.
  void begin_life();
  /// It has ended by itself: a thread that nobody has joined or detached fails the run.
  void end_life();

  /// Others may run first, when there are threads. Throws nothing.
  void switch_point(const char* call) noexcept;
  /// Ends all threads when no more than so many others are left, which end now.
  void end_if_alone(std::size_t others = 0);
  /// Ends all threads, the current one at its next call.
  void end_all();
  /// Whether the current coroutine is a thread that is to end with its process.
  [[nodiscard]] bool is_ending() noexcept;
  /// Begins a detached thread that does work of the runtime, whose destructors call: it ends by
  /// itself when its calls tell it that its process is over. False when there can be no more.
  [[nodiscard]] bool begin_worker(void* (*start)(void*), void* argument);
  /// The main coroutine is about to end: threads that are alone then end with it.
  void main_ends() {
    if (running_ > 0) end_if_alone(1);
  }
  /// Leaves the foreign code of a thread that is to end with its process, or is cancelled.
  void leave_if_ending();

  void begin_call(const char* call) override;
  int create(pthread_t& thread, const pthread_attr_t* attributes, void* (*start)(void*),
             void* argument) override;
  int join(pthread_t thread, void** result, const posix::Until& until) override;
  int try_join(pthread_t thread, void** result) override;
  int detach(pthread_t thread) override;
  [[noreturn]] void exit(void* result) override;
  void test_cancel() override;
  int cancel(pthread_t thread) override;
  bool let_cancel(bool value) override;
  bool let_cancel_at_once(bool value) override;
  void add_cleanup(__pthread_unwind_buf_t& handler) override;
  void remove_cleanup() override;
  [[noreturn]] void clean_up_further() override;
  pthread_t self() override { return me(); }
  pid_t number() override;
  /// The thread of this number; 0 when there is none.
  [[nodiscard]] pthread_t numbered(pid_t number) const;
  bool knows(pthread_t thread) override;
  void set_name(pthread_t thread, const char* name) override;
  std::string name_of(pthread_t thread) override;
  Scheduling& scheduling_of(pthread_t thread) override { return scheduling_[thread]; }
  std::pair<void*, std::size_t> stack_of(pthread_t thread) override;

  int lock(pthread_mutex_t& mutex, const posix::Until& until) override;
  int try_lock(pthread_mutex_t& mutex) override;
  int unlock(pthread_mutex_t& mutex) override;
  int destroy(pthread_mutex_t& mutex) override;

  int wait(pthread_cond_t& condition, pthread_mutex_t& mutex, const posix::Until& until) override;
  int signal(pthread_cond_t& condition, bool all) override;
  int destroy(pthread_cond_t& condition) override;
  [[nodiscard]] clockid_t clock_of(const pthread_cond_t& condition) noexcept override;

  int lock_to_read(pthread_rwlock_t& lock, const posix::Until& until) override;
  int lock_to_write(pthread_rwlock_t& lock, const posix::Until& until) override;
  int try_lock_to_read(pthread_rwlock_t& lock) override;
  int try_lock_to_write(pthread_rwlock_t& lock) override;
  int unlock(pthread_rwlock_t& lock) override;

  int lock(pthread_spinlock_t& lock) override;
  int try_lock(pthread_spinlock_t& lock) override;
  int unlock(pthread_spinlock_t& lock) override;

  int wait(sem_t& semaphore, const posix::Until& until) override;
  int try_wait(sem_t& semaphore) override;
  int post(sem_t& semaphore) override;

  int wait(pthread_barrier_t& barrier) override;
  int destroy(pthread_barrier_t& barrier) override;

  int once(pthread_once_t& control, void (*routine)()) override;
  int create_key(pthread_key_t& key, void (*destructor)(void*)) override;
  int delete_key(pthread_key_t key) override;
  int set(pthread_key_t key, const void* value) override;
  void* get(pthread_key_t key) override;

  int wait(const std::uint32_t* word, std::uint32_t expected, std::uint32_t bits,
           const posix::Until& until) override;
  int wake(const std::uint32_t* word, int most, std::uint32_t bits) override;

 private:
  class Body;
  /// A thread that is not joined yet, or that runs.
  struct Thread {
    Ref<CoroutineBase> coroutine;
    void* result = nullptr;
    std::string name;
    const void* made_by = nullptr;  // Where pthread_create() was called.
    bool has_ended = false;
    bool is_detached = false;
    bool is_joined = false;        // Somebody waits for its end.
    bool ends = false;             // It is to end, with the process.
    bool is_told = false;          // Has been asked to end once.
    unsigned waits_after_end = 0;  // That it has begun since its process is over.
    bool is_worker = false;        // Has been begun by begin_worker().
    bool has_begun = false;
    bool is_cancelled = false;
    bool lets_cancel = true;
    bool ends_at_once = false;    // When it is cancelled, in any call.
    std::size_t stack_bytes = 0;  // Asked for; 0: the default.
    std::vector<__pthread_unwind_buf_t*> cleanups = {};
  };
  using Values = std::map<pthread_key_t, const void*>;

  /// How a wait ended: Interrupted by a handler of a signal.
  enum class Ended : std::uint8_t { Woken, TimedOut, Interrupted, Cancelled, Over };
  /// What a cancellation of a coroutine that is not a thread does to a wait.
  enum class Interruption : std::uint8_t { Wakes, Deferred };

  /// The current coroutine's number; one that nobody has in a callback.
  [[nodiscard]] std::uint64_t me() const noexcept;
  /// Null when the current coroutine was not made as a thread.
  [[nodiscard]] Thread* current() noexcept;
  [[nodiscard]] bool over() const noexcept;
  /// Returns what has cancelled the current coroutine before or meanwhile; null: nothing.
  std::exception_ptr let_others_run(const SourcePlace& place, bool is_slice_over);
  /// How long the time slice takes that ends now.
  [[nodiscard]] Duration time_of_slice() noexcept;
  /// Whether a call is to have no effect, as all is over. Who makes many is dropped.
  [[nodiscard]] bool is_in_vain();
  /// Whether the call that begins is to have no effect; else others may run before it.
  [[nodiscard]] bool begins_in_vain(const char* call);
  /// Until it is woken. A cancellation is kept for the next operation of Fermata that waits.
  [[nodiscard]] Ended park(std::optional<ThreadWait>& wait, const char* call,
                           const posix::Until& until, Interruption interruption);
  /// Waits in the line that `facts` name, with Interruption::Deferred.
  [[nodiscard]] Ended park(ThreadWaitFacts facts, const posix::Until& until);
  /// Ends the current thread when it has been cancelled, and lets that be done in any call.
  void leave_if_at_once();
  /// Waits once.
  [[nodiscard]] Ended park_once(ThreadWaitFacts facts, const posix::Until& until,
                                Interruption interruption, std::uint32_t bits = ~0u);
  /// A thread has been cancelled: whether it ends now.
  [[nodiscard]] bool shut_down();
  /// "mutex '#3'"
  [[nodiscard]] std::string title_of(const void* object, const char* kind);
  /// Wakes one of those who wait for `object`; which one, is drawn. False when nobody waits.
  bool wake_one(const void* object, const char* kind);
  void wake_all(const void* object);

  /// Fault::ThreadCreationFailure strikes.
  [[nodiscard]] bool is_refused();
  /// create() without letting others run. 0 or EAGAIN.
  [[nodiscard]] int make(pthread_t& thread, const pthread_attr_t* attributes, void* (*start)(void*),
                         void* argument);
  /// The body of a thread.
  void run(void* (*start)(void*), void* argument);
  void ended(std::uint64_t number);
  /// A thread has ended detached.
  void forget_detached(std::uint64_t number);
  [[noreturn]] void unwind(Thread& self, void* result);
  [[nodiscard]] bool is_alive(std::uint64_t number) const;
  void destroy_values();
  void adopt_scheduling(pthread_t thread, const pthread_attr_t& attributes);
  [[nodiscard]] Values& values();
  /// What a call answers for a thread that there is not: EINVAL if it was detached, else ESRCH.
  [[nodiscard]] int code_without(pthread_t thread) const;
  [[nodiscard]] int take_result(pthread_t thread, void** result);
  void resolve() override;

  [[nodiscard]] bool is_locked(pthread_mutex_t& mutex, const char* call);
  [[nodiscard]] static bool checks_owner(const pthread_mutex_t& mutex) noexcept;
  /// Whether the current coroutine holds it.
  [[nodiscard]] bool is_own(pthread_mutex_t& mutex, const char* call);
  [[nodiscard]] int take(pthread_mutex_t& mutex, const char* call);
  [[nodiscard]] int lock_again(pthread_mutex_t& mutex, const char* call, const posix::Until& until);
  void let_go(pthread_mutex_t& mutex);
  /// Undoes one lock of it, and returns whether that was the last one.
  [[nodiscard]] static bool set_free(pthread_mutex_t& mutex) noexcept;
  [[nodiscard]] ThreadWaitFacts facts_of(const pthread_mutex_t& mutex, const char* call) const;
  /// Remembers where a lock was taken, if somebody is going to read it.
  void note_taken(const void* lock);
  [[nodiscard]] SourcePlace taken_at(const void* lock) const;
  void adopt(pthread_rwlock_t& lock) noexcept;
  [[nodiscard]] ThreadWaitFacts facts_of(pthread_rwlock_t& lock, const char* call) const;
  [[nodiscard]] int take_to_read(pthread_rwlock_t& lock);
  [[nodiscard]] int take_to_write(pthread_rwlock_t& lock);

  ThreadHost& host_;
  Machine& machine_;
  WaitLines lines_;
  std::map<const void*, SourcePlace> taken_at_;  // By lock.
  std::map<std::uint64_t, Thread> threads_;
  std::set<std::uint64_t> detached_ends_;  // The last ones that have ended detached.
  std::uint32_t life_ = 0;                 // Marks locks that this life of the process holds.
  std::size_t running_ = 0;                // How many threads run.
  std::uint64_t made_ = 0;
  bool has_threads_ = false;    // Some have been made.
  bool is_registered_ = false;  // As a SoftResolver.
  std::uint64_t calls_in_vain_ = 0;
  Duration slice_ = Duration::zero();  // How long the last time slice took.
  Instant slice_end_;
  unsigned unswitched_ = 0;  // Switch points since a thread has had to let others go first.
  std::map<std::uint64_t, Scheduling> scheduling_;  // By thread; only of those that were asked.
  std::map<pthread_key_t, void (*)(void*)> keys_;
  pthread_key_t next_key_ = kFirstKey;
  std::optional<backend::SlotKey> slot_;  // Of values.
  Values values_of_callbacks_;            // Those of nobody.
};

}  // namespace fermata::sim::detail
