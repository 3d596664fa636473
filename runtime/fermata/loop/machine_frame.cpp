// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/base/exception_ptr_cast.hpp"
#include "fermata/loop/machine.hpp"

namespace fermata::loop::detail {

namespace {

using fermata::detail::exception_ptr_cast;

}  // namespace

// --- Runner ---

Runner::Runner(Machine& owner)
    : machine(owner),
      call(owner.runtime, backend::EventKind::Plain, "event loop: a spare coroutine") {
  home.runner = this;
}

bool Runner::on_switch(CoroutineBase&, backend::SwitchMoment moment) {
  if (moment == backend::SwitchMoment::Leave) machine.left(*this);
  return true;
}

std::string Runner::text() const {
  const std::string what = frame.id != 0 ? frame.text() : std::string(frame_kind);
  const SourcePlace* const place = coroutine->suspend_place();
  return place == nullptr ? what : what + ", suspended at " + place->text();
}

// --- frames ---

/// Calls user code as the only one on the stack of `me`, and says what it has thrown. When it has
/// suspended, `me` has lost the right to drive. Destructors of the program's are user code: what it
/// has given to the loop dies in a frame.
template <class Call>
std::exception_ptr Machine::frame(Runner& me, Call&& call) {
  FERMATA_ASSERT(!me.in_frame && !me.detached);
  me.in_frame = true;
  std::exception_ptr error;
  try {
    call();
  } catch (...) {
    error = std::current_exception();
  }
  me.home.end();
  end_frame(me);
  const bool ends = is_forced_unwind(error) ||
                    (is_cancellation(error) && (closed_ || runtime.scheduler().is_shutting_down() ||
                                                me.coroutine->is_cancellation_requested()));
  if (error && ends) std::rethrow_exception(error);
  if (closed_ && exception_ptr_cast<LoopEnded>(error) != nullptr)
    throw Cancellation("The event loop has ended");
  return error;
}

void Machine::end_frame(Runner& me) noexcept {
  FERMATA_ASSERT(me.in_frame);
  me.in_frame = false;
  if (std::exchange(me.detached, false)) suspended_.remove(me);
}

void Machine::run_microtask(Runner& me) {
  if (options.microtask_limit != 0 && microtasks_in_a_row_ >= options.microtask_limit) {
    microtasks_in_a_row_ = 0;
    return interrupt(std::make_exception_ptr(LivelockError(
        fmt::format("more than {} microtasks without a callback", options.microtask_limit))));
  }
  Microtask next = microtasks_.pop();
  if (next.fiber != nullptr) return resume(*next.fiber);
  ++microtasks_in_a_row_;
  me.frame = {};
  me.frame_kind = "a microtask";
  const std::exception_ptr error = frame(me, [&next] {
    Task task = std::move(next.task);
    task();
  });
  if (error) fail(me, error, "a microtask");
}

void Machine::call_on_idle(Runner& me) {
  me.frame = {};
  me.frame_kind = "what is called when the loop is idle";
  if (const auto error = frame(me, [this] { on_idle(); })) fail(me, error, me.frame_kind);
}

// The driver goes on when whom it has resumed gives up control again.
void Machine::resume(Fiber& fiber) {
  if (fiber.gate == nullptr) return;
  static constexpr SourcePlace kPlace = {"event loop", "", 0};
  Runner* const runner = fiber.runner;
  fiber.gate->wake();
  if (runner == nullptr) return runtime.scheduler().yield(kPlace);
  resumed_ = runner;
  runtime.scheduler().wait_for(handback_, kPlace);
}

/// Why a source that is ready must not be called: it could not be activated, or its descriptor was
/// closed meanwhile, and the number may be somebody else's. Null when it may be called.
std::exception_ptr Machine::what_is_gone(const Source& source) noexcept {
  if (source.failure || !source.polls()) return source.failure;
  try {
    static_cast<const PollSource&>(source).proxy->poll().require_same_file();
  } catch (const PollError&) {
    return std::current_exception();
  }
  return nullptr;
}

void Machine::invoke(Runner& me, Source& source) {
  FERMATA_ASSERT(source.line == Line::Ready && source.enabled);
  leave_line(source);
  me.frame = source.info();
  if (const std::exception_ptr gone = what_is_gone(source)) return refuse(me, source, gone);
  const bool once = source.kind == CallbackKind::Defer || source.kind == CallbackKind::Delay;
  ++source.calls;
  if (once) {
    forget(source, nullptr);
  } else {
    me.source = &source;
    source.count = std::exchange(source.pending, 0);
    if (source.kind == CallbackKind::Repeat) {
      source.invokable = false;
      count_from_now(static_cast<TimerSource&>(source));
      push(source, Line::Enabling);
    }
  }
  struct Ended {
    Machine& machine;
    Runner& me;
    Source& source;
    ~Ended() {
      FERMATA_ASSERT(source.calls > 0);
      me.source = nullptr;
      --source.calls;
      if (!source.cancelled) {
        machine.unmask(source);
      } else if (source.calls == 0) {
        machine.destroy(source);
      }
    }
  };
  const std::exception_ptr error = frame(me, [&] {
    const Ended ended{*this, me, source};
    source.call();
  });
  if (error) fail(me, error, me.frame.text());
}

/// Forgets a source that cannot be watched or called any more, and tells why.
void Machine::refuse(Runner& me, Source& source, const std::exception_ptr& error) {
  const std::string where = (source.invokable ? "" : "the activation of ") + me.frame.text();
  static_cast<void>(frame(me, [&] { forget(source, nullptr); }));
  fail(me, error, where);
}

// --- masks ---

void Machine::mask(Source& source) noexcept {
  FERMATA_ASSERT(source.calls > 0);
  source.masked = true;
  leave_line(source);
  if (source.kind == CallbackKind::Signal || source.kind == CallbackKind::Notice) return;
  source.invokable = false;
  unwatch(source);
}

// After a call: whoever was masked is activated again, and a watch that has ended begins anew.
void Machine::unmask(Source& source) noexcept {
  const bool again = std::exchange(source.masked, false);
  if (!source.enabled || source.line != Line::None) return;
  if (std::exchange(source.ended, false)) {
    unwatch(source);
  } else if (!again) {
    return;
  }
  source.invokable = false;
  push(source, Line::Enabling);
  poke();
}

// --- errors ---

void Machine::fail(Runner& me, const std::exception_ptr& error, const std::string& where) {
  const auto wrapped = [](const std::exception_ptr& original, const std::string& who) {
    if (exception_ptr_cast<UncaughtError>(original) != nullptr) return original;
    return std::make_exception_ptr(UncaughtError(who, original));
  };
  if (!error_handler || closed_) return interrupt(wrapped(error, where));
  me.frame = {};
  me.frame_kind = "the error handler";
  const std::exception_ptr again = frame(me, [&] {
    const Loop::ErrorHandler handler = error_handler;  // It may be replaced meanwhile.
    handler(error);
  });
  if (again) interrupt(wrapped(again, "the error handler"));
}

// Without a loop there is no run that the error could end.
void Machine::interrupt(std::exception_ptr error) {
  if (closed_) return runtime.report_unhandled(std::move(error));
  errors_.push_back(std::move(error));
  poke();
}

std::exception_ptr Machine::take_error() noexcept {
  std::exception_ptr first;
  for (const std::exception_ptr& error : std::exchange(errors_, {})) {
    first = first ? link_previous(first, error) : error;
  }
  return first;
}

}  // namespace fermata::loop::detail
