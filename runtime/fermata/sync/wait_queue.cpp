// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/wait_queue.hpp"

#include <fmt/format.h>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sync/debugger_names.hpp"

namespace fermata::detail {

namespace {

// Here, since every program that has such names has lines too.
[[maybe_unused]] const bool debuggers_are_told = tell_debuggers_of_names();

}  // namespace

// When nobody is left who could grant it, its coroutine is being unwound by force.
void Waiter::throw_failure() const {
  if (state_ == State::Failed) std::rethrow_exception(error_);
  if (Scheduler::unwinding(*coroutine_)) throw ForcedUnwind{};
  const std::string what =
      coroutine_->info() + " comes back from a wait with neither a grant nor an error";
  backend::Observer* const observer = coroutine_->runtime().kernel().observer;
  if (observer != nullptr) observer->broken("CORE-WK-07", what);
  throw Error(what);
}

void Waiter::settle(State state, const std::exception_ptr& error) {
  FERMATA_ASSERT(in_line());
  FERMATA_ASSERT((state == State::Failed) == (error != nullptr));
  const State before = state_;
  queue_->line_of(before).remove(*this);
  if (serve_ != nullptr) {
    state_ = State::Left;
    return serve_(*this, error);
  }
  state_ = state;
  error_ = error;
  if (state == State::Granted) queue_->granted_.push_back(*this);
  if (before == State::Granted) return;  // It has been woken already.
  Scheduler& scheduler = coroutine_->runtime().scheduler();
  scheduler.wake(*coroutine_, nullptr, nullptr, nullptr, backend::WakeCause::Event);
}

WaitQueue::~WaitQueue() { FERMATA_ASSERT(empty()); }

[[gnu::flatten]] bool WaitQueue::grant() {
  Waiter* const next = oldest();
  if (next == nullptr) return false;
  next->settle(Waiter::State::Granted, nullptr);
  return true;
}

void WaitQueue::fail_all(const std::exception_ptr& error, bool granted_too) {
  FERMATA_ASSERT(error != nullptr);
  while (Waiter* oldest = waiting_.first()) oldest->settle(Waiter::State::Failed, error);
  if (!granted_too) return;
  while (Waiter* oldest = granted_.first()) oldest->settle(Waiter::State::Failed, error);
}

std::uint64_t WaitQueue::next_id() const noexcept {
  const Waiter* next = oldest();
  return next != nullptr && next->coroutine_ != nullptr ? next->coroutine_->id() : 0;
}

bool WaitQueue::is_in_order() const noexcept {
  if (!waiting_.is_sound() || !granted_.is_sound()) return false;
  const auto stand = [this](const Line& line, Waiter::State state) {
    const Waiter* each = line.first();
    while (each != nullptr && each->queue_ == this && each->state_ == state) {
      each = Line::after(*each);
    }
    return each == nullptr;
  };
  for (const Waiter* each = waiting_.first(); each != waiting_.last(); each = Line::after(*each)) {
    if (each->ticket_ >= Line::after(*each)->ticket_) return false;
  }
  return stand(waiting_, Waiter::State::Waiting) && stand(granted_, Waiter::State::Granted);
}

std::string WaitQueue::info() const {
  std::string text;
  const auto list = [&text](const Line& line, const char* what) {
    const char* before = what;
    for (const Waiter* each = line.first(); each != nullptr; each = Line::after(*each)) {
      text += std::exchange(before, ", ");
      text += each->coroutine_ != nullptr ? fmt::format("'{}'", each->coroutine_->label()) : "-";
    }
  };
  list(granted_, ", granted: ");
  list(waiting_, ", waiting: ");
  return text;
}

}  // namespace fermata::detail
