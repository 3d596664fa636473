// SPDX-License-Identifier: Apache-2.0
#include "fermata/loop/suspension.hpp"

#include <fmt/format.h>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/loop/machine.hpp"

namespace fermata::loop {

namespace {

using detail::Fiber;
using detail::FiberState;
using detail::Machine;
using detail::Signpost;

void schedule(const std::shared_ptr<Fiber>& fiber, Machine& machine, std::any value,
              std::exception_ptr error) {
  fiber->state = FiberState::Scheduled;
  fiber->value = std::move(value);
  fiber->error = std::move(error);
  if (fiber->main) {
    machine.poke();
  } else {
    machine.queue({Task(), fiber});
  }
}

/// What the fiber was answered with.
std::any take_answer(Fiber& fiber) {
  fiber.state = FiberState::Idle;
  std::any value = std::exchange(fiber.value, {});
  if (const auto error = std::exchange(fiber.error, nullptr)) std::rethrow_exception(error);
  return value;
}

/// Idle again, whatever happens; an answer that comes too late dies here, where it was waited for.
/// `gate` is null for main. A loop that ends tells the coroutines beside it.
struct Waiting {
  Waiting(Machine& loop, Fiber& waiting, Signpost* gate)
      : machine(loop), fiber(waiting), beside(gate != nullptr && waiting.runner == nullptr) {
    fiber.state = FiberState::Pending;
    fiber.gate = gate;
    fiber.main = gate == nullptr;
    ++fiber.round;
    if (beside) machine.waits_beside(fiber);
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting() {
    if (beside) machine.waits_no_more(fiber);
    fiber.gate = nullptr;
    fiber.main = false;
    if (fiber.state != FiberState::Dead) fiber.state = FiberState::Idle;
    fiber.error = nullptr;
    fiber.value.reset();
  }
  Machine& machine;
  Fiber& fiber;
  const bool beside;
};

bool in_destructor() {
  const CoroutineBase* const current = current_runtime().current();
  return current != nullptr && fermata::detail::Scheduler::in_destructor(*current);
}

/// What is thrown in a destructor would end the program.
std::any refuse_after_end() {
  if (in_destructor()) return {};
  throw LoopEnded(detail::kLoopHasEnded);
}

std::any suspend_callback(Fiber& fiber, Machine& machine, const SourcePlace& place) {
  Signpost gate(machine.runtime, backend::EventKind::Plain, "event loop: a resumption");
  const Waiting waiting(machine, fiber, &gate);
  machine.runtime.scheduler().wait_for(gate, place);
  if (fiber.state == FiberState::Scheduled) return take_answer(fiber);
  if (in_destructor()) return {};  // While everything ends.
  throw SuspensionError("suspend: the coroutine is being unwound");
}

std::any suspend_main(const std::shared_ptr<Fiber>& fiber, const std::shared_ptr<Machine>& machine,
                      const SourcePlace& place) {
  if (machine->options.hosted && !machine->options.host_can_be_turned) {
    throw LoopIsHosted("suspend: the event loop's host runs it, and does not wait for anybody");
  }
  const Waiting waiting(*machine, *fiber, nullptr);
  machine->enter(fiber, false, place);
  if (const std::exception_ptr error = machine->take_error()) {
    fiber->state = FiberState::Dead;
    std::rethrow_exception(error);
  }
  if (fiber->state == FiberState::Scheduled) return take_answer(*fiber);
  fiber->state = FiberState::Dead;
  throw LoopDeadlock(machine->report().stopped, machine->suspended_texts());
}

}  // namespace

void detail::throw_wrong_value(const std::type_info& expected, const std::any& value) {
  throw UsageError(fmt::format("suspend: expected to be resumed with a {}, got {}", expected.name(),
                               value.has_value() ? value.type().name() : "nothing"));
}

std::any Suspension::suspend(SourcePlace place) const {
  FERMATA_REQUIRE(fiber_ != nullptr, "suspend: an empty suspension");
  const auto fiber = fiber_;
  const auto machine = fiber->machine.lock();
  if (fiber->state == FiberState::Dead) {
    throw SuspensionError("suspend: it was suspended when an uncaught error ended the loop's run");
  }
  if (machine == nullptr || machine->is_closed()) return refuse_after_end();
  if (fiber->coroutine == nullptr || fiber->coroutine != machine->runtime.current()) {
    throw SuspensionError("suspend: the suspension belongs to another callback or coroutine");
  }
  if (fiber->state != FiberState::Idle) {
    throw SuspensionError("suspend: it is suspended already, and must be resumed first");
  }
  const bool main = fiber->runner == nullptr && !machine->is_running();
  return main ? suspend_main(fiber, machine, place) : suspend_callback(*fiber, *machine, place);
}

bool Suspension::answer(std::any value, std::exception_ptr error) const {
  FERMATA_REQUIRE(fiber_ != nullptr, "resume: an empty suspension");
  if (fiber_->state == FiberState::Dead) return false;
  const auto machine = fiber_->machine.lock();
  if (machine == nullptr || fiber_->coroutine == nullptr) {
    throw SuspensionError("resume: the callback that was suspended has returned");
  }
  if (machine->is_closed()) return false;
  if (fiber_->state != FiberState::Pending) {
    throw SuspensionError("resume: not suspended: it must call suspend() first");
  }
  schedule(fiber_, *machine, std::move(value), std::move(error));
  return true;
}

bool Suspension::resume(std::any value) const { return answer(std::move(value), nullptr); }

bool Suspension::fail(std::exception_ptr error) const {
  FERMATA_REQUIRE(error != nullptr, "fail: expected an error");
  return answer({}, std::move(error));
}

Ticket Suspension::ticket() const {
  FERMATA_REQUIRE(fiber_ != nullptr, "ticket: an empty suspension");
  Ticket ticket;
  ticket.fiber_ = fiber_;
  ticket.round_ = fiber_->state == FiberState::Pending ? fiber_->round : fiber_->round + 1;
  return ticket;
}

bool Suspension::pending() const noexcept {
  return fiber_ != nullptr && fiber_->state == FiberState::Pending;
}

// --- Ticket ---

bool Ticket::valid() const noexcept {
  return fiber_ != nullptr && fiber_->coroutine != nullptr &&
         fiber_->state == FiberState::Pending && fiber_->round == round_;
}

bool Ticket::answer(std::any value, std::exception_ptr error) const {
  FERMATA_REQUIRE(fiber_ != nullptr, "resume: an empty ticket");
  if (fiber_->state == FiberState::Dead) return false;
  const auto machine = fiber_->machine.lock();
  const bool early = fiber_->coroutine != nullptr && round_ > fiber_->round;
  if (early) throw SuspensionError("resume: not suspended: it must call suspend() first");
  if (machine == nullptr || !valid()) throw SuspensionError("resume: the ticket is used up");
  if (machine->is_closed()) return false;
  schedule(fiber_, *machine, std::move(value), std::move(error));
  return true;
}

bool Ticket::resume(std::any value) const { return answer(std::move(value), nullptr); }

bool Ticket::fail(std::exception_ptr error) const {
  FERMATA_REQUIRE(error != nullptr, "fail: expected an error");
  return answer({}, std::move(error));
}

}  // namespace fermata::loop
