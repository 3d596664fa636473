// SPDX-License-Identifier: Apache-2.0

// The life of threads, and how calls begin and wait.

#include "fermata/sim/posix/foreign_threads.hpp"
#include "fermata/sim/posix/foreign_signals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csetjmp>
#include <exception>
#include <limits>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/posix/foreign_code.hpp"
#include "fermata/sim/machine/fault_plan.hpp"
#include "fermata/sim/machine/machine.hpp"
#include "fermata/sim/posix/clock.hpp"
#include "fermata/sim/posix/clock_news.hpp"
#include "fermata/sim/posix/interruptible_wait.hpp"
#include "fermata/sim/posix/kept_caller.hpp"
#include "fermata/sim/posix/machine_share.hpp"
#include "fermata/sim/posix/thread_exit.hpp"

namespace fermata::sim::detail {

namespace {

constexpr std::size_t kMostThreads = 10'000;
/// How many threads are known still that have ended detached: the C library keeps some stacks.
constexpr std::size_t kMostDetachedEnds = 64;
constexpr std::uint64_t kMostCallsInVain = 1'000;
/// How many calls that wait tell a thread that its process is over, before it is made to leave.
/// What ends by itself runs its destructors, some of which call.
constexpr unsigned kMostWaitsAfterEnd = 10;
/// The most calls that follow each other without a switch.
constexpr unsigned kTimeSlice = 1'000;

/// What Linux gives to a thread that asks for nothing.
constexpr std::size_t kMostStackBytes = std::size_t{8} << 20;

/// 0 when it is the default, which depends on the limits of the real process.
std::size_t stack_asked_for(const pthread_attr_t& attributes) noexcept {
  pthread_attr_t plain;
  std::size_t usual = 0;
  std::size_t asked = 0;
  ::pthread_attr_init(&plain);
  ::pthread_attr_getstacksize(&plain, &usual);
  ::pthread_attr_destroy(&plain);
  ::pthread_attr_getstacksize(&attributes, &asked);
  return asked == usual ? 0 : asked;
}

/// Counts the lives of all processes of this real one.
constinit std::uint32_t lives = 0;

}  // namespace

/// What the coroutine of a thread runs. Goes when that one ends, also if it has never begun.
class ForeignThreads::Body {
 public:
  Body(ForeignThreads& threads, void* (*start)(void*), void* argument) noexcept
      : threads_(&threads), start_(start), argument_(argument) {}
  Body(Body&& other) noexcept
      : threads_(std::exchange(other.threads_, nullptr)),
        start_(other.start_),
        argument_(other.argument_) {}
  Body& operator=(Body&&) = delete;
  ~Body() {
    if (threads_ != nullptr) threads_->ended(threads_->me());
  }

  void operator()() { threads_->run(start_, argument_); }

 private:
  ForeignThreads* threads_;
  void* (*start_)(void*);
  void* argument_;
};

void ForeignThreads::begin_life() {
  FERMATA_ASSERT(running_ == 0);
  life_ = ++lives;
  threads_.clear();
  detached_ends_.clear();
  scheduling_.clear();
  keys_.clear();
  next_key_ = kFirstKey;
  slot_.reset();
  lines_.forget_names();
  taken_at_.clear();
  made_ = 0;
  has_threads_ = false;
  is_registered_ = false;
  calls_in_vain_ = 0;
  unswitched_ = 0;
  slice_ = Duration::zero();
}

void ForeignThreads::end_life() {
  FERMATA_ASSERT(running_ == 0);
  std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
  for (const auto& [number, thread] : threads_) {
    const bool is_leak = !thread.is_detached && !posix::is_foreign_code(thread.made_by);
    if (is_leak) first = std::min(first, number);
  }
  const auto leaked = threads_.find(first);
  if (leaked != threads_.end() && !over()) {
    machine_.fail(fmt::format("thread '{}' was never joined or detached", leaked->second.name));
  }
  threads_.clear();
}

// --- how calls begin ---

bool ForeignThreads::over() const noexcept { return machine_.over() || machine_.is_down(); }

std::uint64_t ForeignThreads::me() const noexcept {
  constexpr std::uint64_t kNobody = std::numeric_limits<std::int32_t>::max();
  const CoroutineBase* const current = current_runtime().current();
  return current == nullptr ? kNobody : current->id();
}

ForeignThreads::Thread* ForeignThreads::current() noexcept {
  if (threads_.empty()) return nullptr;
  const auto found = threads_.find(me());
  return found == threads_.end() ? nullptr : &found->second;
}

bool ForeignThreads::is_ending() noexcept {
  const Thread* const thread = current();
  return thread != nullptr && (thread->ends || over());
}

void ForeignThreads::leave_if_ending() {
  Thread* const self = current();
  if (self == nullptr) return;
  if (std::uncaught_exceptions() > 0) return;  // A destructor: it lets nothing out.
  const bool goes_on = over() || (self->ends && self->is_worker);
  if (goes_on && ++self->waits_after_end <= kMostWaitsAfterEnd) return;
  if (over()) host_.leave();
  if (self->ends) throw ThreadExit{nullptr};
  if (!self->is_cancelled || !self->lets_cancel) return;
  self->lets_cancel = false;
  unwind(*self, PTHREAD_CANCELED);
}

// A handler is jumped to, since frames of C have nothing that an exception would run.
void ForeignThreads::unwind(Thread& self, void* result) {
  self.result = result;
  if (self.cleanups.empty()) throw ThreadExit{result};
  auto* const jump = self.cleanups.back()->__cancel_jmp_buf;
  std::longjmp(reinterpret_cast<__jmp_buf_tag*>(jump), 1);
}

void ForeignThreads::add_cleanup(__pthread_unwind_buf_t& handler) {
  if (Thread* const self = current()) self->cleanups.push_back(&handler);
}

void ForeignThreads::remove_cleanup() {
  Thread* const self = current();
  if (self != nullptr && !self->cleanups.empty()) self->cleanups.pop_back();
}

void ForeignThreads::clean_up_further() {
  Thread* const self = current();
  FERMATA_ASSERT(self != nullptr);
  remove_cleanup();
  unwind(*self, self->result);
}

bool ForeignThreads::let_cancel(bool value) {
  Thread* const self = current();
  if (self == nullptr) return true;
  const bool before = std::exchange(self->lets_cancel, value);
  leave_if_at_once();
  return before;
}

bool ForeignThreads::let_cancel_at_once(bool value) {
  Thread* const self = current();
  if (self == nullptr) return false;
  const bool before = std::exchange(self->ends_at_once, value);
  leave_if_at_once();
  return before;
}

// The call that it is in may be one that throws nothing.
void ForeignThreads::leave_if_at_once() {
  Thread* const self = current();
  if (self == nullptr || !self->is_cancelled || !self->lets_cancel || !self->ends_at_once) return;
  self->lets_cancel = false;
  if (!self->cleanups.empty()) unwind(*self, PTHREAD_CANCELED);
  destroy_values();
  current()->result = PTHREAD_CANCELED;
  host_.drop_coroutine(ThreadHost::DropAs::Returned);
}

int ForeignThreads::cancel(pthread_t thread) {
  if (begins_in_vain("pthread_cancel")) return ESRCH;
  const auto found = threads_.find(thread);
  if (found == threads_.end()) return knows(thread) ? ENOSYS : ESRCH;
  Thread& cancelled = found->second;
  cancelled.is_cancelled = true;
  const bool may_wait = cancelled.has_begun && thread != me();
  if (may_wait && cancelled.lets_cancel) cancelled.coroutine->cancel();
  leave_if_at_once();
  return 0;
}

// In a callback on the stack of a coroutine nobody else can run.
void ForeignThreads::switch_point(const char* call) noexcept {
  if (!has_threads_ || over()) return;
  Runtime& runtime = current_runtime();
  CoroutineBase* const self = runtime.current();
  if (self == nullptr) return;
  end_if_alone();
  const bool is_slice_over = ++unswitched_ >= kTimeSlice;
  if (!is_slice_over && runtime.scheduler().ready().empty()) return;
  const KeptCaller kept;
  const SourcePlace place = host_.place_of_switch(call);
  const std::exception_ptr cancellation = let_others_run(place, is_slice_over);
  if (cancellation == nullptr) return;
  const Thread* const thread = current();
  if (thread != nullptr && !thread->is_cancelled) {
    static_cast<void>(shut_down());
  } else {
    // Who had been cancelled before has not let anybody run.
    static_cast<void>(let_others_run(place, is_slice_over));
    self->cancel(cancellation);
  }
}

std::exception_ptr ForeignThreads::let_others_run(const SourcePlace& place, bool is_slice_over) {
  auto& scheduler = current_runtime().scheduler();
  try {
    if (is_slice_over) {
      unswitched_ = 0;
      delay(time_of_slice(), place);
    } else {
      scheduler.offer(place);
    }
  } catch (const Cancellation&) {
    return std::current_exception();
  } catch (...) {
    scheduler.keep_unwinding();
  }
  return nullptr;
}

// The longer nobody waits for anything, the more time passes, up to 10 us a call: a program may
// call something in a loop until its time is over.
Duration ForeignThreads::time_of_slice() noexcept {
  constexpr Duration kShortest = std::chrono::microseconds(10);
  constexpr Duration kLongest = std::chrono::milliseconds(10);
  const Instant latest = slice_end_ + slice_;  // A timer may be late.
  const bool goes_on = slice_ > Duration::zero() && machine_.now() <= latest;
  slice_ = goes_on ? std::min(2 * slice_, kLongest) : kShortest;
  slice_end_ = machine_.now() + slice_;
  return slice_;
}

bool ForeignThreads::is_in_vain() {
  if (!over() && !is_ending()) {
    calls_in_vain_ = 0;
    return false;
  }
  const bool is_endless = ++calls_in_vain_ > kMostCallsInVain;
  if (is_endless && current_runtime().scheduler().can_suspend())
    host_.drop_coroutine(ThreadHost::DropAs::Forced);
  return true;
}

void ForeignThreads::begin_call(const char* call) {
  switch_point(call);
  host_.foreign_signals().deliver();
  leave_if_at_once();
}

bool ForeignThreads::begins_in_vain(const char* call) {
  if (is_in_vain()) return true;
  begin_call(call);
  return false;
}

// --- how they wait ---

ForeignThreads::Ended ForeignThreads::park(ThreadWaitFacts facts, const posix::Until& until) {
  if (current_runtime().current() == nullptr) {
    static_cast<void>(host_.refuse_wait(facts.call));
    return Ended::Over;
  }
  const char* const call = facts.call;
  std::optional<ThreadWait> wait(std::in_place, current_runtime(), lines_, std::move(facts));
  return park(wait, call, until, Interruption::Deferred);
}

ForeignThreads::Ended ForeignThreads::park_once(ThreadWaitFacts facts, const posix::Until& until,
                                                Interruption interruption, std::uint32_t bits) {
  const char* const call = facts.call;
  std::optional<ThreadWait> wait(std::in_place, current_runtime(), lines_, std::move(facts), bits);
  return park(wait, call, until, interruption);
}

// A thread knows no cancellation but its end; whoever else is cancelled is told by Fermata. The
// wait is over before a handler runs, which may jump away from this frame.
ForeignThreads::Ended ForeignThreads::park(std::optional<ThreadWait>& wait, const char* call,
                                           const posix::Until& until, Interruption interruption) {
  if (over() || is_ending()) return Ended::Over;  // Since the call began.
  CoroutineBase& self = *current_runtime().current();
  const bool is_thread = current() != nullptr;
  host_.begin_waiting();
  const SourcePlace place = host_.place();
  const auto wait_for_it = [&](Event* token) {
    std::optional<ClockNews> news;
    if (until && is_wall_clock(until->clock)) news.emplace(machine_, *wait);
    do {
      WaitOptions options{.timeout = {}, .token = token};
      if (until) {
        options.timeout = limit_until(machine_, until->clock, duration_of(until->time));
      }
      fermata::wait(*wait, options, place);
    } while (!wait->is_woken() && news && news->take());
  };
  const bool is_told = is_thread || interruption == Interruption::Wakes;
  bool is_woken = false;
  const auto leave = [&] {
    is_woken = wait->is_woken();
    wait.reset();
  };
  const auto wait_or_protect = [&](Event* token) {
    if (is_told) return wait_for_it(token);
    protect([&] { wait_for_it(token); });
  };
  const WaitEnd end = wait_interruptibly(host_.foreign_signals(), true, wait_or_protect, leave);
  const bool is_cancelled = end.why == WaitEnd::Why::Cancelled;
  if (is_cancelled && !is_thread) self.cancel(end.cancellation);
  if (end.why == WaitEnd::Why::Refused) static_cast<void>(host_.refuse_wait(call));
  if (end.why == WaitEnd::Why::Refused || end.why == WaitEnd::Why::Unwound) return Ended::Over;
  if (wait ? wait->is_woken() : is_woken) return Ended::Woken;
  if (end.why == WaitEnd::Why::Signal) return Ended::Interrupted;
  if (over()) return Ended::Over;
  if (!is_cancelled) return Ended::TimedOut;
  if (is_thread && current()->is_cancelled) return Ended::Cancelled;
  if (is_thread) return shut_down() ? Ended::Over : Ended::Cancelled;
  if (interruption == Interruption::Wakes) return Ended::Cancelled;
  // A cancellation does not end this wait: its time is over, or a signal has come.
  const auto rest = [&] { return limit_until(machine_, until->clock, duration_of(until->time)); };
  if (until && rest() == Duration::zero()) return Ended::TimedOut;
  leave();
  host_.foreign_signals().deliver();
  return Ended::Interrupted;
}

// A shutdown of the process. A thread may go on until the second time, or until it is alone.
bool ForeignThreads::shut_down() {
  FERMATA_ASSERT(current() != nullptr);
  Thread& self = threads_.find(me())->second;
  if (std::exchange(self.is_told, true)) self.ends = true;
  end_if_alone();
  return self.ends;
}

bool ForeignThreads::wake_one(const void* object, const char* kind) {
  const WaitLines::Line* const line = lines_.find(object);
  if (line == nullptr) return false;
  std::size_t chosen = 0;
  if (line->size() > 1) {
    const auto tell = [&](const Decision& decision) {
      const auto name = [&](std::size_t at) { return name_of((*line)[at]->coroutine()); };
      return fmt::format("'{}' is woken at {}, before '{}'", name(decision.value),
                         title_of(object, kind), name(0));
    };
    chosen = machine_.decisions().draw(backend::RandomStream::Schedule,
                                       key_of(machine_.key(), "wake one"), line->size(), tell);
  }
  lines_.wake(*(*line)[chosen]);
  return true;
}

void ForeignThreads::wake_all(const void* object) {
  while (const WaitLines::Line* const line = lines_.find(object)) lines_.wake(*line->front());
}

std::string ForeignThreads::title_of(const void* object, const char* kind) {
  return fmt::format("{} '{}'", kind, lines_.name_of(object, kind));
}

// --- threads ---

int ForeignThreads::create(pthread_t& thread, const pthread_attr_t* attributes,
                           void* (*start)(void*), void* argument) {
  if (is_in_vain() || is_refused()) return EAGAIN;
  const int code = make(thread, attributes, start, argument);
  if (code == 0) begin_call("pthread_create");
  return code;
}

bool ForeignThreads::is_refused() {
  if (!machine_.can_refuse_threads()) return false;
  const auto tell = [&](const Decision&) {
    return fmt::format("'{}' has no room for 'thread {}', which '{}' asks for in {}",
                       machine_.host().name(), made_ + 1, name_of(me()), host_.place().in_short());
  };
  return machine_.faults().strikes(Fault::ThreadCreationFailure, backend::RandomStream::Fault,
                                   key_of(machine_.key(), "thread creation"), tell);
}

bool ForeignThreads::begin_worker(void* (*start)(void*), void* argument) {
  pthread_t number = 0;
  if (make(number, nullptr, start, argument) != 0) return false;
  const auto made = threads_.find(number);
  FERMATA_ASSERT(made != threads_.end());
  Thread& worker = made->second;
  worker.is_detached = true;
  worker.is_worker = true;
  return true;
}

int ForeignThreads::make(pthread_t& thread, const pthread_attr_t* attributes, void* (*start)(void*),
                         void* argument) {
  FERMATA_ASSERT(start != nullptr);
  if (running_ >= kMostThreads) return EAGAIN;
  int detached = PTHREAD_CREATE_JOINABLE;
  std::size_t stack_bytes = 0;
  if (attributes != nullptr) {
    ::pthread_attr_getdetachstate(attributes, &detached);
    stack_bytes = stack_asked_for(*attributes);
  }
  if (stack_bytes > kMostStackBytes) {
    machine_.fail(fmt::format("pthread_create() asks for a stack of {} bytes; a thread has {}",
                              stack_bytes, kMostStackBytes));
    return EAGAIN;
  }
  Runtime& runtime = current_runtime();
  const std::string name = fmt::format("thread {}", ++made_);
  SpawnOptions options;
  options.name = Name(name);
  options.place = host_.place();
  options.scope = &runtime.root_scope();
  const auto coroutine = spawn_in(runtime, std::move(options), Body(*this, start, argument));
  thread = coroutine->id();
  host_.thread_made(*coroutine);
  threads_.emplace(thread, Thread{.coroutine = Ref<CoroutineBase>::share(*coroutine),
                                  .name = name,
                                  .made_by = posix::caller,
                                  .is_detached = detached == PTHREAD_CREATE_DETACHED,
                                  .stack_bytes = stack_bytes});
  host_.foreign_signals().inherit(thread);
  if (attributes != nullptr) adopt_scheduling(thread, *attributes);
  ++running_;
  ++host_.machine_share().threads;
  has_threads_ = true;
  if (!std::exchange(is_registered_, true)) runtime.scheduler().add_soft_resolver(*this);
  return 0;
}

void ForeignThreads::run(void* (*start)(void*), void* argument) {
  void* result = nullptr;
  current()->has_begun = true;
  try {
    result = start(argument);
  } catch (const ThreadExit& exit) {
    result = exit.result;
  }
  if (!is_ending()) {
    host_.foreign_signals().deliver();  // The last chance.
    destroy_values();
  }
  const auto self = threads_.find(me());
  FERMATA_ASSERT(self != threads_.end());
  self->second.result = result;
}

void ForeignThreads::ended(std::uint64_t number) {
  FERMATA_ASSERT(running_ > 0);
  --running_;
  --host_.machine_share().threads;
  const auto self = threads_.find(number);
  FERMATA_ASSERT(self != threads_.end());
  self->second.has_ended = true;
  host_.foreign_signals().forget(number);
  const void* const line = &self->second;
  if (self->second.is_detached) forget_detached(number);
  if (over()) return;
  host_.foreign_signals().pass_on();
  wake_all(line);
}

void ForeignThreads::test_cancel() { host_.leave_if_endless(); }

void ForeignThreads::exit(void* result) {
  Thread* const self = current();
  if (self == nullptr) throw ThreadExit{result};
  self->lets_cancel = false;
  unwind(*self, result);
}

int ForeignThreads::code_without(pthread_t thread) const {
  return detached_ends_.count(thread) > 0 ? EINVAL : ESRCH;
}

int ForeignThreads::join(pthread_t thread, void** result, const posix::Until& until) {
  host_.leave_if_endless();
  if (begins_in_vain("pthread_join")) return 0;  // C++ would throw.
  if (thread == me()) return EDEADLK;
  const auto found = threads_.find(thread);
  if (found == threads_.end()) return code_without(thread);
  Thread& joined = found->second;
  if (joined.is_detached || joined.is_joined) return EINVAL;
  joined.is_joined = true;
  while (!joined.has_ended) {
    const Ended ended = park({.call = "pthread_join",
                              .kind = "end of thread",
                              .object = &joined,
                              .name = joined.name,
                              .holder = thread},
                             until);
    if (ended == Ended::Woken || ended == Ended::Interrupted) continue;
    if (ended == Ended::Cancelled) {
      joined.is_joined = false;
      host_.leave_if_endless();
      joined.is_joined = true;
      continue;
    }
    joined.is_joined = false;
    if (ended == Ended::TimedOut) return ETIMEDOUT;
    host_.leave_if_endless();
    return 0;
  }
  joined.is_joined = false;
  return take_result(thread, result);
}

int ForeignThreads::try_join(pthread_t thread, void** result) {
  if (begins_in_vain("pthread_tryjoin_np")) return ESRCH;
  const auto found = threads_.find(thread);
  if (found == threads_.end()) return code_without(thread);
  if (found->second.is_detached || found->second.is_joined) return EINVAL;
  return found->second.has_ended ? take_result(thread, result) : EBUSY;
}

int ForeignThreads::take_result(pthread_t thread, void** result) {
  const auto found = threads_.find(thread);
  FERMATA_ASSERT(found != threads_.end());
  if (result != nullptr) *result = found->second.result;
  threads_.erase(found);
  return 0;
}

int ForeignThreads::detach(pthread_t thread) {
  if (is_in_vain()) return ESRCH;
  const auto found = threads_.find(thread);
  if (found == threads_.end()) return code_without(thread);
  if (found->second.is_detached) return EINVAL;
  found->second.is_detached = true;
  if (found->second.has_ended) forget_detached(thread);
  return 0;
}

void ForeignThreads::forget_detached(std::uint64_t number) {
  threads_.erase(number);
  detached_ends_.insert(number);
  if (detached_ends_.size() > kMostDetachedEnds) detached_ends_.erase(detached_ends_.begin());
}

pid_t ForeignThreads::number() {
  const CoroutineBase* const current = current_runtime().current();
  const bool is_main = current != nullptr && current->is_main();
  const pid_t process = host_.foreign_signals().process_id();
  FERMATA_ASSERT(process > 0);
  return is_main ? process : static_cast<pid_t>(me());
}

pthread_t ForeignThreads::numbered(pid_t number) const {
  const pid_t process = host_.foreign_signals().process_id();
  const auto& all = current_runtime().registry();
  for (const CoroutineBase* each = all.first(); each != nullptr;
       each = CoroutineBase::Registry::after(*each)) {
    const pid_t own = each->is_main() ? process : static_cast<pid_t>(each->id());
    if (own == number) return each->id();
  }
  return 0;
}

bool ForeignThreads::knows(pthread_t thread) {
  return thread == me() || threads_.find(thread) != threads_.end() || is_alive(thread);
}

bool ForeignThreads::is_alive(std::uint64_t number) const {
  const auto& all = current_runtime().registry();
  for (const CoroutineBase* each = all.first(); each != nullptr;
       each = CoroutineBase::Registry::after(*each)) {
    if (each->id() == number) return true;
  }
  return false;
}

void ForeignThreads::set_name(pthread_t thread, const char* name) {
  const auto found = threads_.find(thread);
  if (found != threads_.end()) found->second.name = name;
}

std::string ForeignThreads::name_of(pthread_t thread) {
  const auto found = threads_.find(thread);
  if (found != threads_.end()) return found->second.name;
  const auto& all = current_runtime().registry();
  for (const CoroutineBase* each = all.first(); each != nullptr;
       each = CoroutineBase::Registry::after(*each)) {
    if (each->id() == thread) return each->label();
  }
  return "nobody";
}

void ForeignThreads::adopt_scheduling(pthread_t thread, const pthread_attr_t& attributes) {
  int inherits = PTHREAD_INHERIT_SCHED;
  ::pthread_attr_getinheritsched(&attributes, &inherits);
  if (inherits != PTHREAD_EXPLICIT_SCHED) return;
  Scheduling& kept = scheduling_[thread];
  sched_param parameters = {};
  ::pthread_attr_getschedpolicy(&attributes, &kept.policy);
  ::pthread_attr_getschedparam(&attributes, &parameters);
  kept.priority = parameters.sched_priority;
}

std::pair<void*, std::size_t> ForeignThreads::stack_of(pthread_t thread) {
  const auto& stack = current_runtime().scheduler().running_context();
  if (thread != me() || stack == nullptr) return {nullptr, 0};
  auto bytes = static_cast<std::size_t>(stack->stack_high - stack->stack_low);
  const Thread* const self = current();
  if (self != nullptr && self->stack_bytes > 0) bytes = std::min(bytes, self->stack_bytes);
  return {stack->stack_high - bytes, bytes};
}

// --- the end ---

void ForeignThreads::end_if_alone(std::size_t others) {
  if (running_ == 0) return;
  const std::size_t threads = host_.machine_share().threads;
  FERMATA_ASSERT(threads >= running_);
  if (current_runtime().registry().size() <= threads + others) end_all();
}

void ForeignThreads::end_all() {
  std::vector<std::uint64_t> numbers;
  for (const auto& [number, thread] : threads_) {
    if (!thread.has_ended && !thread.ends) numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  for (const std::uint64_t number : numbers) {
    Thread& thread = threads_.find(number)->second;
    thread.ends = true;
    if (number != me()) thread.coroutine->cancel();
  }
}

void ForeignThreads::resolve() {
  is_registered_ = running_ > 0;
  if (!is_registered_) return;
  current_runtime().scheduler().add_soft_resolver(*this);
  end_if_alone();
}

}  // namespace fermata::sim::detail
