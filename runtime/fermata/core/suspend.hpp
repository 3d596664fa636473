// SPDX-License-Identifier: Apache-2.0
#pragma once

// What code inside a coroutine can do. Each call belongs to the current coroutine of the runtime
// that runs on this thread, and throws UsageError outside of one.
//
// Destructors   One that runs because of an exception may suspend, and no cancellation reaches it
//               (CORE-GL-15): neither cancel, nor a deadlock, nor a shutdown. What it waits for
//               must come. On a normal exit a cancellation does reach it, and ends the program when
//               it gets out: a destructor that waits uses protect_in_destructor, whose calls no
//               cancellation reaches on either way. It must catch what operations throw.
// Forced end    When a run ends by force a destructor's wait goes on for as long as somebody else
//               can still end it: coroutines that it joins are unwound first. Then suspend, delay
//               and a wait for a plain event return, as if answered with nothing. A wait for a
//               coroutine or for I/O throws ForcedUnwind, after a line in the log; so does every
//               wait on a normal exit outside of protect_in_destructor. A destructor that does not
//               catch it, or waits again without end, ends the program; whose it was is told.

#include <exception>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "fermata/base/error.hpp"
#include "fermata/base/inlining.hpp"
#include "fermata/base/source_place.hpp"
#include "fermata/base/time.hpp"
#include "fermata/core/reactor.hpp"
#include "fermata/core/runtime.hpp"

namespace fermata {

/// Lets the other ready coroutines run first. A cancellation is delivered here.
inline void suspend(SourcePlace place = SourcePlace::current()) {
  current_runtime().scheduler().yield(place);
}

/// Suspends for at least `span`, which may be zero (then as suspend()); UsageError when negative.
void delay(Duration span, SourcePlace place = SourcePlace::current());

/// The present monotonic time of the runtime.
[[nodiscard]] Instant now();
[[nodiscard]] WallTime wall_clock();

/// A number in [0, bound). Part of the schedule in simulation, from the system's generator
/// otherwise. UsageError when `bound` is 0.
[[nodiscard]] std::uint64_t random(std::uint64_t bound, SourcePlace place = SourcePlace::current());
/// Any 64-bit number, from where random() has its own.
[[nodiscard]] std::uint64_t random_bits(SourcePlace place = SourcePlace::current());

/// The coroutine whose code is running.
[[nodiscard]] inline CoroutineBase& current_coroutine() {
  CoroutineBase* const current = current_runtime().current();
  FERMATA_REQUIRE(current != nullptr, "no coroutine is running");
  return *current;
}

/// The values of the current coroutine.
[[nodiscard]] backend::LocalContext& coroutine_context();

/// Starts a graceful shutdown that makes `Runtime::run` return `code`, and unwinds the caller. The
/// caller may be suspended inside any number of calls.
[[noreturn]] void exit_with(int code);

/// Starts a graceful shutdown; the caller goes on to its next suspension point.
void shutdown(std::exception_ptr reason = nullptr);

/// Adds a handler to the current coroutine, or to the main one when called before it runs.
std::size_t add_switch_handler(std::shared_ptr<backend::SwitchHandler> handler);

struct WaitOptions {
  /// The longest time to wait; then Timeout is thrown. Absent: forever. Zero: never suspends.
  std::optional<Duration> timeout;
  /// An event that ends the wait with OperationCancelled when it fires; the awaited event goes on.
  /// One that has fired already is checked after the event itself when that can replay, else
  /// before.
  Event* token = nullptr;
};

namespace detail {
/// Throws UsageError, which gives the value, when `span` is negative.
void require_valid_span(Duration span);
/// Throws OperationCancelled with the error of `token`, which has fired, as its previous.
[[noreturn]] void throw_cancelled_by(Event& token);
void* wait_with(Event& event, const WaitOptions& options, SourcePlace place);
/// wait() that becomes a part of its caller, which includes switching.hpp.
void* wait_within(Event& event, const WaitOptions& options, const SourcePlace& place);
/// wait_within() of an event without a result, but the error that the wait ended with is returned;
/// null when there is none.
[[nodiscard]] std::exception_ptr wait_for_end_within(Event& event, const WaitOptions& options,
                                                     const SourcePlace& place);
/// wait_with(), but the error that the wait ended with is returned; null when there is none. What
/// keeps the wait from beginning, such as a cancellation that is due, is thrown.
[[nodiscard]] std::exception_ptr wait_with(Event& event, const WaitOptions& options,
                                           SourcePlace place, void*& result);
}  // namespace detail

/// Waits until `event` fires and returns its result. Throws its error, Timeout, OperationCancelled,
/// Cancellation; UsageError on a closed event that cannot replay. A closed one that can answers
/// without suspending.
FERMATA_HOT void* wait(Event& event, const WaitOptions& options = {},
                       SourcePlace place = SourcePlace::current()) {
  if (!options.timeout && options.token == nullptr && !event.is_closed()) [[likely]] {
    return current_runtime().scheduler().wait_for(event, place);
  }
  return detail::wait_with(event, options, place);
}

namespace detail {
/// A part of a destructor, where waits work as they do while an exception unwinds the stack.
class DestructorRegion {
 public:
  explicit DestructorRegion(Scheduler& scheduler) : scheduler_(scheduler) {
    scheduler.enter_destructor();
  }
  DestructorRegion(const DestructorRegion&) = delete;
  DestructorRegion& operator=(const DestructorRegion&) = delete;
  ~DestructorRegion() { scheduler_.leave_destructor(); }

 private:
  Scheduler& scheduler_;
};
}  // namespace detail

/// Runs `function` with cancellation deferred to the end of the outermost protect: it is thrown
/// there, with what `function` threw as its previous (CORE-CO-06). Not for destructors: there use
/// protect_in_destructor.
template <class F>
std::invoke_result_t<F&> protect(F&& function) {
  detail::Scheduler& scheduler = current_runtime().scheduler();
  scheduler.enter_protected();
  const auto fail = [&]() {
    std::exception_ptr error = std::current_exception();
    if (std::exception_ptr cancellation = scheduler.leave_protected()) {
      error = link_previous(cancellation, error);
    }
    return error;
  };
  if constexpr (std::is_void_v<std::invoke_result_t<F&>>) {
    try {
      function();
    } catch (...) {
      std::rethrow_exception(fail());
    }
    if (std::exception_ptr cancellation = scheduler.leave_protected()) {
      std::rethrow_exception(cancellation);
    }
  } else {
    std::optional<std::invoke_result_t<F&>> result;
    try {
      result.emplace(function());
    } catch (...) {
      std::rethrow_exception(fail());
    }
    if (std::exception_ptr cancellation = scheduler.leave_protected()) {
      std::rethrow_exception(cancellation);
    }
    return std::move(*result);
  }
}

/// The form of protect for destructors: no cancellation reaches `function`, neither one of a
/// shutdown nor of a deadlock. What comes meanwhile stays pending until the first suspension point
/// after the destructor. What `function` itself throws comes out, and must be caught there.
template <class F>
std::invoke_result_t<F&> protect_in_destructor(F&& function) {
  const detail::DestructorRegion region(current_runtime().scheduler());
  return function();
}

}  // namespace fermata
