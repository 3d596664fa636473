// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <span>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/base/exception_ptr_cast.hpp"
#include "fermata/core/escape_report.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/core/scheduler.hpp"
#include "fermata/core/sweep.hpp"
#include "fermata/core/switching.hpp"

namespace fermata::detail {

namespace {

constexpr unsigned kDeadlockRounds = 3;  // After that, waiting again raises at once (BUG-25).
constexpr std::size_t kTurnsOfDestructors = 1000;  // Each, while nobody ends; then it is forever.

/// What has not happened may still use what a destructor would go on to destroy: coroutines, I/O.
bool can_do_without(const backend::Waker& waker) {
  for (const backend::Registration* each = waker.first(); each != nullptr; each = each->next()) {
    const backend::EventKind kind = each->source().kind();
    if (kind == backend::EventKind::Coroutine || kind == backend::EventKind::Scope ||
        kind == backend::EventKind::Request || kind == backend::EventKind::Task ||
        kind == backend::EventKind::Thread || kind == backend::EventKind::Process ||
        kind == backend::EventKind::Joint) {
      return false;
    }
  }
  return true;
}

std::exception_ptr cancellation(const std::string& what) {
  return std::make_exception_ptr(Cancellation(what));
}

/// Writes who overflowed its stack; runs in a signal handler.
void describe_owner(void* owner, char* out, std::size_t size) noexcept {
  const auto& coroutine = *static_cast<const CoroutineBase*>(owner);
  const SourcePlace& place = coroutine.spawn_place();
  std::snprintf(out, size, "coroutine %llu '%s' spawned at %s:%lld",
                static_cast<unsigned long long>(coroutine.id()), coroutine.name().data(),
                place.file, static_cast<long long>(place.line));
}

}  // namespace

Scheduler::Scheduler(Runtime& runtime) : runtime_(runtime), contexts_(runtime.options().stacks) {
  kernel_.chooser = runtime.options().chooser;
  kernel_.observer = runtime.options().observer;
}

Scheduler::~Scheduler() = default;

void Scheduler::run(CoroutineBase& main) {
  begin_run();
  FERMATA_ASSERT(current_ == nullptr);
  adopt_thread_stack(thread_context_);
  running_ = &thread_context_;
  main.context_ = &thread_context_;
  thread_context_.owner = &main;
  main.set(CoroutineBase::kMain);
  if (kernel_.chooser != nullptr) main.path_ = kernel_.chooser->spawn_path(0, runtime_.name());
  enroll(main, root_scope());
  current_ = &main;
  for (const auto& handler : main_start_handlers_) main.add_switch_handler(handler);
  if (watchdog_ != nullptr) watchdog_->begin(&main);

  std::jmp_buf end_of_main;
  end_of_main_ = &end_of_main;
  if (setjmp(end_of_main) == 0) run_body(main);  // Else it has been dropped.
  end_of_main_ = nullptr;

  thread_context_.owner = nullptr;
  switch_to(nullptr);  // Comes back when the loop has ended.
  FERMATA_ASSERT(running_ == &thread_context_);
  FERMATA_ASSERT(main.is_closed());
  drop_thread_stack(thread_context_);
  if (main.has(CoroutineBase::kOrphaned) && !main.exception_caught()) {
    main.mark_exception_caught();
    exit_errors_.insert(exit_errors_.begin(), main.error());
  }
  end_run();
}

void Scheduler::begin_run() {
  FERMATA_REQUIRE(!active_, "run: the runtime is running already");
  FERMATA_ASSERT(registry_.empty());
  FERMATA_ASSERT(ready_.empty());
  FERMATA_ASSERT(zombies_ == 0);
  if (!stack_fault_guard_) stack_fault_guard_.emplace(&running_, &describe_owner);
  scheduler_context_ = &contexts_.acquire(&Scheduler::scheduler_context);
  runtime_.reactor().attach(runtime_);
  scopes_.plant(runtime_);
  active_ = true;
  abandoned_ = false;
  phase_ = Phase::Running;
  deadlock_rounds_ = 0;
  exit_code_.reset();
  exit_errors_.clear();
  poll_budget_ = 1;
  turn_spacing_ = runtime_.reactor().turn_spacing();
  request_poll();
  last_poll_ = runtime_.now();
  turned_at_ = last_poll_;
  step_began_ = last_poll_;
  step_limited_ = runtime_.options().slow_step > Duration::zero();
  watched_ = step_limited_ || kernel_.observer != nullptr || kernel_.chooser != nullptr;
  if (step_limited_) {
    watchdog_ = runtime_.reactor().make_watchdog(
        runtime_.options().slow_step, [this](const std::string& text) { runtime_.log(text); });
  }
  watch_control_signals();
}

void Scheduler::watch_control_signals() {
  const RuntimeOptions& options = runtime_.options();
  std::array<int, 3> signums{};
  std::size_t count = 0;
  if (options.handle_stop_signals) {
    signums[count++] = SIGINT;
    signums[count++] = SIGTERM;
  }
  if (options.dump_signal != 0) signums[count++] = options.dump_signal;
  if (count > 0) runtime_.reactor().watch_control_signals(std::span(signums).first(count));
}

void Scheduler::end_run() {
  FERMATA_ASSERT(registry_.empty());
  FERMATA_ASSERT(ready_.empty());
  FERMATA_ASSERT(zombies_ == 0);
  FERMATA_ASSERT(current_ == nullptr);
  FERMATA_ASSERT(scheduler_context_ == nullptr);
  watchdog_.reset();
  scopes_.fell();
  drop_deadline();
  microtasks_.clear();
  running_ = nullptr;
  finalizers_launched_ = false;
  active_ = false;
  for (const std::string& leak : runtime_.reactor().detach()) runtime_.log(leak);
  if (abandoned_) throw backend::AbandonRun{};
  if (exit_errors_.empty()) return;
  std::exception_ptr error;
  for (auto older = exit_errors_.rbegin(); older != exit_errors_.rend(); ++older) {
    error = link_previous(*older, error);
  }
  std::rethrow_exception(error);
}

void Scheduler::report_unhandled(std::exception_ptr error) {
  FERMATA_ASSERT(error != nullptr);
  if (active_) {
    reported_errors_.push_back(std::move(error));
    call_for_attention();
  } else {
    runtime_.log("unhandled error outside of a run: " + describe(error));
  }
}

void Scheduler::handle_loop_exception(std::exception_ptr error) {
  FERMATA_ASSERT(error != nullptr);
  if (exception_ptr_cast<backend::AbandonRun>(error) != nullptr) {
    abandoned_ = true;
    call_for_attention();
    return;
  }
  if (!is_cancellation(error)) exit_errors_.insert(exit_errors_.begin(), error);
  if (phase_ == Phase::Running) {
    start_shutdown(nullptr);
  } else {
    finish_shutdown(nullptr);
  }
}

void Scheduler::start_shutdown(std::exception_ptr reason) {
  FERMATA_REQUIRE(active_, "shutdown: the runtime is not running");
  if (phase_ != Phase::Running) return;
  FERMATA_REQUIRE(!reason || is_cancellation(reason),
                  "shutdown: the reason must be a Cancellation");
  FERMATA_ASSERT(deadline_.get() == nullptr);
  phase_ = Phase::Graceful;
  kernel_.trace(backend::Trace::ShutdownStarted, nullptr, 0);
  deadline_ = make_timer(runtime_, runtime_.options().shutdown_deadline);
  deadline_->set_hidden(true);
  deadline_watch_ = subscribe(*deadline_, [this](Event&, const Outcome&) {
    runtime_.log("the shutdown deadline has passed: ending by force");
    finish_shutdown(nullptr);
  });
  deadline_->start();
  runtime_.reactor().shutdown_began();
  cancel_all(reason ? reason : cancellation("Graceful shutdown"), backend::WakeCause::Shutdown);
  FERMATA_ASSERT(phase_ != Phase::Running);
  launch_finalizers();
}

void Scheduler::finish_shutdown(std::exception_ptr reason) {
  if (phase_ == Phase::Running) start_shutdown(reason);
  if (phase_ == Phase::Final) return;
  FERMATA_ASSERT(phase_ == Phase::Graceful);
  enter_final_phase();
  for (CoroutineBase* each = registry_.first(); each != nullptr;
       each = CoroutineBase::Registry::after(*each)) {
    each->set(CoroutineBase::kForced);
  }
  cancel_all(reason ? reason : cancellation("Forced shutdown"), backend::WakeCause::Shutdown);
}

void Scheduler::enter_final_phase() noexcept {
  phase_ = Phase::Final;
  drop_deadline();
}

// What is over already needs no end by force.
void Scheduler::drop_deadline() noexcept {
  deadline_watch_.cancel();
  deadline_.reset();
}

void Scheduler::request_exit(int code) {
  require_suspendable("exit");
  FERMATA_ASSERT(current_ != nullptr);
  exit_code_ = code;
  start_shutdown(nullptr);
  current_->stored_error_ = nullptr;
  throw ExitUnwind();
}

void Scheduler::on_stop_signal(int signum) {
  if (phase_ == Phase::Running) {
    exit_code_ = 128 + signum;
    start_shutdown(cancellation(fmt::format("Interrupted by signal {}", signum)));
  } else {
    finish_shutdown(cancellation(fmt::format("Interrupted again, by signal {}", signum)));
  }
}

// Cancels whoever is alive now, in the order of ids; protection does not help any more.
void Scheduler::cancel_all(const std::exception_ptr& reason, backend::WakeCause cause) {
  std::vector<Ref<CoroutineBase>> everybody;
  everybody.reserve(registry_.size());
  for (CoroutineBase* each = registry_.first(); each != nullptr;
       each = CoroutineBase::Registry::after(*each)) {
    everybody.push_back(Ref<CoroutineBase>::share(*each));
  }
  FERMATA_ASSERT(everybody.size() == registry_.size());
  for (const auto& coroutine : everybody) {
    if (coroutine->is_closed() || coroutine->waits_to_clean_up()) continue;
    clear_protection(*coroutine);
    deliver_cancellation(*coroutine, reason ? reason : cancellation("Deadlock detected"), cause);
  }
}

bool Scheduler::resolve_softly() {
  for (std::size_t left = soft_resolvers_.size(); left > 0 && !soft_resolvers_.empty(); --left) {
    SoftResolver& resolver = *soft_resolvers_.first();
    soft_resolvers_.remove(resolver);
    try {
      resolver.resolve();
    } catch (...) {
      handle_loop_exception(std::current_exception());
    }
  }
  return !ready_.empty() || has_native_work() || kernel_.active_events > 0;
}

void Scheduler::resolve_deadlock() {
  const std::size_t waiting = registry_.size();
  FERMATA_ASSERT(waiting > 0);
  FERMATA_ASSERT(ready_.empty());
  FERMATA_ASSERT(kernel_.active_events == 0);
  const std::string headline =
      fmt::format("Deadlock detected: no active coroutines, {} coroutines in waiting", waiting);
  kernel_.trace(backend::Trace::DeadlockReported, nullptr, waiting);
  ++metrics_.deadlocks;
  ++deadlock_rounds_;
  runtime_.log(headline + "\n" + runtime_.dump());
  if (deadlock_rounds_ > kDeadlockRounds + 1) {
    std::string ids;
    for (CoroutineBase* each = registry_.first(); each != nullptr;
         each = CoroutineBase::Registry::after(*each)) {
      ids += fmt::format(" {}", each->id());
    }
    exit_errors_.insert(exit_errors_.begin(),
                        std::make_exception_ptr(DeadlockError(fmt::format(
                            "Deadlock not resolved after {} rounds: abandoned coroutines{}",
                            deadlock_rounds_ - 1, ids))));
    enter_final_phase();
    return;
  }
  exit_errors_.insert(exit_errors_.begin(), std::make_exception_ptr(DeadlockError(headline)));
  if (deadlock_rounds_ >= kDeadlockRounds) {
    for (CoroutineBase* each = registry_.first(); each != nullptr;
         each = CoroutineBase::Registry::after(*each)) {
      each->set(CoroutineBase::kForced);
    }
  }
  cancel_all(nullptr, backend::WakeCause::Deadlock);
}

// Everybody is unwound, the youngest first: what a coroutine has spawned may use what is on its
// stack. A destructor that waits meanwhile goes on when it is
// answered, and is answered with nothing when nobody is left who could.
void Scheduler::unwind_all() {
  const EscapeReport report;
  FERMATA_ASSERT(!unwinding_);
  unwinding_ = true;
  call_for_attention();
  enter_final_phase();
  std::size_t turns = 0;  // Of destructors, since a coroutine has ended.
  std::size_t left = registry_.size();
  while (!registry_.empty()) {
    if (!unwind_next()) resume_destructor(++turns);
    if (registry_.size() != std::exchange(left, registry_.size())) turns = 0;
  }
  FERMATA_ASSERT(zombies_ == 0);
  unwinding_ = false;
  unwound_.clear();
  for (const std::exception_ptr& error : std::exchange(reported_errors_, {})) {
    if (!is_cancellation(error)) exit_errors_.insert(exit_errors_.begin(), error);
  }
}

// Begins with the last coroutine that is not being unwound yet; false when there is none.
bool Scheduler::unwind_next() {
  FERMATA_ASSERT(unwinding_);
  CoroutineBase* next = registry_.last();
  while (next != nullptr && next->has(CoroutineBase::kUnwinding)) {
    next = CoroutineBase::Registry::before(*next);
  }
  if (next == nullptr) return false;
  const bool in_destructor = waits_in_destructor(*next);
  next->set(CoroutineBase::kUnwinding);
  if (!next->is_started()) {
    drop_from_ready(*next);
    finalize_unstarted(*next);
  } else if (!in_destructor) {
    throw_into(*next);
  }
  return true;
}

// Everybody is in a destructor or a handler now, and waits there or lets the others go first.
void Scheduler::resume_destructor(std::size_t turns) {
  FERMATA_ASSERT(unwinding_);
  FERMATA_ASSERT(!registry_.empty());
  const std::size_t limit = kTurnsOfDestructors * registry_.size();
  CoroutineBase* next = ready_.empty() ? nullptr : &ready_[0];
  for (CoroutineBase* each = registry_.first(); each != nullptr && next == nullptr;
       each = CoroutineBase::Registry::after(*each)) {
    if (can_do_without(each->waker_)) next = each;
  }
  if (next != nullptr && turns <= limit) {
    next->waker_.unsubscribe();
    return enter_to_unwind(*next);
  }
  CoroutineBase& stuck = next != nullptr ? *next : *registry_.first();
  runtime_.log(stuck.info() +
               " waits in a destructor for something that can no longer happen: it gets a "
               "ForcedUnwind, which ends the program unless it is caught there");
  if (turns > 2 * limit) std::terminate();
  throw_into(stuck);
}

void Scheduler::throw_into(CoroutineBase& coroutine) {
  FERMATA_ASSERT(coroutine.is_started());
  FERMATA_ASSERT(!coroutine.is_closed());
  coroutine.set(CoroutineBase::kToldToUnwind);
  if (coroutine.waker_.place != nullptr) note_unwound(coroutine, *coroutine.waker_.place);
  coroutine.waker_.clear();
  coroutine.waker_.error = std::make_exception_ptr(ForcedUnwind{});
  enter_to_unwind(coroutine);
}

void Scheduler::note_unwound(CoroutineBase& coroutine, const SourcePlace& place) {
  for (Unwound& each : unwound_) {
    if (each.coroutine == coroutine.id()) return static_cast<void>(each.waited_at = place);
  }
  unwound_.push_back({coroutine.id(), place});
}

std::string Scheduler::describe_escape() const {
  for (const Unwound& each : unwound_) {
    if (current_ == nullptr || each.coroutine != current_->id()) continue;
    std::string why = abandoned_ && kernel_.observer != nullptr ? kernel_.observer->why() : "";
    if (why.empty() && !exit_errors_.empty()) why = describe(exit_errors_.front());
    return fmt::format(
        "a destructor of coroutine '{}' spawned at {}:{} has let out the ForcedUnwind that it got "
        "where it waited, at {}{}{}; a destructor that waits uses fermata::protect_in_destructor "
        "and catches what is thrown there",
        current_->label(), current_->spawn_place().file, current_->spawn_place().line,
        each.waited_at.text(), why.empty() ? "" : ", when the run ended by force because of ", why);
  }
  return {};
}

void Scheduler::enter_to_unwind(CoroutineBase& coroutine) {
  FERMATA_ASSERT(coroutine.context_ != nullptr);
  FERMATA_ASSERT(in_scheduler_context_);
  drop_from_ready(coroutine);
  coroutine.waker_.status = backend::WakerStatus::Result;
  switch_to(&coroutine);
  current_ = nullptr;
}

void Scheduler::drop_from_ready(CoroutineBase& coroutine) noexcept {
  for (std::size_t i = 0; i < ready_.size(); ++i) {
    if (&ready_[i] == &coroutine) {
      ready_.take(i);
      return;
    }
  }
}

bool Scheduler::launch_finalizers() {
  if (shutdown_finalizers_.empty() || std::exchange(finalizers_launched_, true)) return false;
  Sweep::launch(*this, root_scope(), "shutdown finalizers", shutdown_finalizers_);
  return true;
}

}  // namespace fermata::detail
