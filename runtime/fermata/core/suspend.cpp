// SPDX-License-Identifier: Apache-2.0
#include "fermata/core/suspend.hpp"

#include <fmt/format.h>

#include <cerrno>

#include "fermata/base/assert.hpp"
#include "fermata/core/switching.hpp"
#include "fermata/core/timer.hpp"

namespace fermata {

namespace {

/// Key of draws that the program itself asks for.
constexpr std::uint64_t kProgramDraw = 0x70726f6772616dULL;

std::uint64_t system_random() {
  std::uint64_t number = 0;
  if (::getentropy(&number, sizeof number) == 0) return number;
  throw InputOutputError("ask the system for a random number", errno);
}

}  // namespace

void detail::require_valid_span(Duration span) {
  if (span >= Duration::zero()) return;
  throw UsageError(fmt::format("a span of {} ns: expected zero or more", span.count()));
}

void detail::throw_cancelled_by(Event& token) {
  FERMATA_ASSERT(token.is_closed());
  OperationCancelled cancelled;
  if (const Outcome* outcome = token.replay(); outcome != nullptr && outcome->error) {
    token.mark_exception_caught();
    cancelled.set_previous(outcome->error);
  }
  throw cancelled;
}

void delay(Duration span, SourcePlace place) {
  detail::require_valid_span(span);
  if (span == Duration::zero()) return suspend(place);
  Runtime& runtime = current_runtime();
  detail::Scheduler& scheduler = runtime.scheduler();
  if (scheduler.unwinding(scheduler.require_suspendable("delay"))) return suspend(place);
  std::exception_ptr error;  // Thrown when the timer is gone: see wait_with().
  {
    Timer timer(runtime, span);
    error = scheduler.wait_for_end_within(timer, place);
  }
  if (error) [[unlikely]] {
    std::rethrow_exception(std::move(error));
  }
}

Instant now() { return current_runtime().now(); }

WallTime wall_clock() { return current_runtime().reactor().wall_clock(); }

namespace {

/// Any 64-bit number when `bound` is 0.
std::uint64_t draw(std::uint64_t bound, SourcePlace place) {
  Runtime& runtime = current_runtime();
  if (backend::Chooser* chooser = runtime.kernel().chooser) {
    const std::uint64_t caller = runtime.current() != nullptr ? runtime.current()->path() : 0;
    return chooser->draw({.key = kProgramDraw ^ caller, .bound = bound, .place = place});
  }
  return bound == 0 ? system_random() : system_random() % bound;
}

}  // namespace

std::uint64_t random(std::uint64_t bound, SourcePlace place) {
  FERMATA_REQUIRE(bound != 0, "random: a bound of 0: expected at least 1");
  return draw(bound, place);
}

std::uint64_t random_bits(SourcePlace place) { return draw(0, place); }

backend::LocalContext& coroutine_context() { return current_coroutine().local(); }

void exit_with(int code) { current_runtime().scheduler().request_exit(code); }

void shutdown(std::exception_ptr reason) { current_runtime().shutdown(std::move(reason)); }

std::size_t add_switch_handler(std::shared_ptr<backend::SwitchHandler> handler) {
  return current_coroutine().add_switch_handler(std::move(handler));
}

namespace {

/// Leaves no registration behind when building a wait fails.
class CleanWaker {
 public:
  explicit CleanWaker(backend::Waker& waker) noexcept : waker_(waker) { waker_.clear(); }
  CleanWaker(const CleanWaker&) = delete;
  CleanWaker& operator=(const CleanWaker&) = delete;
  ~CleanWaker() { waker_.clear(); }

 private:
  backend::Waker& waker_;
};

}  // namespace

// What is thrown here passes no destructor: unwinding a frame that has one takes three times as
// long.
void* detail::wait_with(Event& event, const WaitOptions& options, SourcePlace place) {
  void* result = nullptr;
  if (std::exception_ptr error = wait_with(event, options, place, result)) {
    std::rethrow_exception(std::move(error));
  }
  return result;
}

std::exception_ptr detail::wait_with(Event& event, const WaitOptions& options, SourcePlace place,
                                     void*& result) {
  Runtime& runtime = current_runtime();
  detail::Scheduler& scheduler = runtime.scheduler();
  CoroutineBase& me = scheduler.require_suspendable("wait");
  FERMATA_REQUIRE(&event != &me, "a coroutine cannot await itself");
  if (options.timeout) require_valid_span(*options.timeout);
  backend::Waker& waker = me.waker();
  const CleanWaker clean(waker);
  event.mark_result_used();
  if (event.is_closed() && event.replay() == nullptr) {
    runtime.log(event.info() + " is waited for after its end");
  }
  Event* token = options.token == &event ? nullptr : options.token;
  if (token != nullptr && token->void_as_token()) token = nullptr;
  const bool is_open = !event.is_closed();
  if (is_open) {
    waker.add(event, backend::WakeRule::Resolve, runtime.kernel());
  } else {
    waker.resume_when(event, backend::WakeRule::Resolve);
  }
  if (is_open && token != nullptr) {
    token->mark_used_as_token();
    token->touched();
    if (token->is_closed()) throw_cancelled_by(*token);
    waker.resume_when(*token, backend::WakeRule::Token);
  }
  std::exception_ptr error;
  if (is_open && options.timeout) {  // Not an optional Timer: clearing its memory takes too long.
    Timer timer(runtime, *options.timeout);
    if (*options.timeout == Duration::zero()) return timer.timeout_error();
    waker.add(timer, backend::WakeRule::Timeout, runtime.kernel());
    error = scheduler.suspend_within(place);
  } else {
    error = scheduler.suspend_within(place);
  }
  result = waker.result;
  return error;
}

}  // namespace fermata
