// SPDX-License-Identifier: Apache-2.0

// What callbacks and microtasks do, and how they are suspended and resumed.

#include <utility>

#include "properties/models/loop_model.hpp"

namespace fermata::models {

void LoopModel::run_frame(Frame frame) {
  while (frame.at < frame.acts->size()) {
    const LoopAct& act = (*frame.acts)[frame.at++];
    if (rules_.real_time) ++now_;
    if (act.deed == LoopDeed::Suspend && frame.self != 0) return suspend(std::move(frame));
    perform(act, frame);
  }
  end_frame(frame);
}

void LoopModel::perform(const LoopAct& act, Frame& frame) {
  if (act.is_control()) return control(act);
  switch (act.deed) {
    case LoopDeed::Queue:
      microtasks_.push_back({next_task_++, {}});
      break;
    case LoopDeed::Defer:
      return add(Kind::Defer);
    case LoopDeed::Delay:
      return add(Kind::Delay, act.span);
    case LoopDeed::Repeat:
      return add(Kind::Repeat, act.span);
    case LoopDeed::Notice:
      return add(Kind::Notice);
    case LoopDeed::Readable:
      return add(Kind::Readable, 0, act.connection(), act.takes());
    case LoopDeed::Writable:
      return add(Kind::Writable, 0, act.connection());
    case LoopDeed::Signal:
      return add(Kind::Signal, 0, act.signal());
    case LoopDeed::Write:
      connections_[act.connection()].has_data = true;
      break;
    case LoopDeed::Fill:
      connections_[act.connection()].is_full = true;
      break;
    case LoopDeed::Empty:
      connections_[act.connection()].is_full = false;
      break;
    case LoopDeed::Raise:
      raised_[act.signal()] = true;
      break;
    case LoopDeed::Resume:
    case LoopDeed::Fail:
    case LoopDeed::ResumeByTicket:
    case LoopDeed::FailByTicket:
      return answer(act);
    case LoopDeed::Stop:
      stop_ = stop_ || running_;
      break;
    case LoopDeed::Throw:
      frame.throws = frame.self != 0;
      break;
    case LoopDeed::Sleep:
      if (frame.self != 0) break;
      if (act.span == 0) return may_look();
      now_ += act.span;
      return look();
    default:
      break;
  }
}

void LoopModel::control(const LoopAct& act) {
  const std::uint64_t id = next_id_ == 1 ? 1 : 1 + act.subject % (next_id_ - 1);
  if (id == guard_) return;
  switch (act.deed) {
    case LoopDeed::Cancel:
      return cancel(id);
    case LoopDeed::Disable:
      return disable(id);
    case LoopDeed::Enable:
      return enable(id);
    case LoopDeed::Reference:
      return set_referenced(id, true);
    case LoopDeed::Unreference:
      return set_referenced(id, false);
    default:
      return notify(id);
  }
}

void LoopModel::end_frame(const Frame& frame) {
  if (frame.fiber) fibers_[*frame.fiber].state = State::Over;
  unmask(frame.source);
  if (!frame.throws) return;
  if (has_handler_) return note("handled");
  failed_ = true;
}

/// The next call, whoever it is.
void LoopModel::call(std::uint64_t self, std::uint64_t source) {
  static const LoopCall kNothing;
  const bool last = next_call_ == script_.calls.size();
  if (last && self != kMicrotask) cancel(self);
  run_frame({last ? &kNothing : &script_.calls[next_call_++], 0, self, source, false, {}});
}

// --- suspensions ---

std::size_t LoopModel::begin_suspension(std::size_t index) {
  Fiber& fiber = fibers_[index];
  fiber.state = State::Pending;
  suspensions_.push_back({index, ++fiber.round});
  fiber.number = suspensions_.size();
  note("suspend " + std::to_string(fiber.number));
  return fiber.number;
}

void LoopModel::suspend(Frame frame) {
  if (!frame.fiber) {
    frame.fiber = fibers_.size();
    fibers_.emplace_back();
  }
  const std::size_t fiber = *frame.fiber;
  begin_suspension(fiber);
  if (frame.source != 0) mask(frame.source);
  fibers_[fiber].frame = std::move(frame);
  may_look();
}

void LoopModel::resume(std::size_t index) {
  may_look();
  Fiber& fiber = fibers_[index];
  fiber.state = State::Idle;
  note((fiber.fails ? "failed " : "resumed ") + std::to_string(fiber.number));
  run_frame(std::move(fiber.frame));
  may_look();
}

void LoopModel::answer(const LoopAct& act) {
  if (suspensions_.empty()) return;
  const std::size_t number = act.subject % suspensions_.size();
  const std::string name = std::to_string(number + 1);
  const Suspension& suspension = suspensions_[number];
  Fiber& fiber = fibers_[suspension.fiber];
  const bool is_late =
      act.by_ticket() && (fiber.state != State::Pending || fiber.round != suspension.round);
  if (fiber.state == State::Over || is_late) return note("stale " + name);
  if (fiber.state != State::Pending) return note("not suspended " + name);
  note("answered " + name);
  fiber.state = State::Scheduled;
  fiber.fails = act.fails();
  if (!fiber.is_main) microtasks_.push_back({0, suspension.fiber});
}

/// The program suspends itself.
void LoopModel::run_suspended() {
  if (!main_ || fibers_[*main_].state == State::Over) {
    main_ = fibers_.size();
    fibers_.emplace_back().is_main = true;
  }
  const std::size_t main = *main_;
  const std::size_t number = begin_suspension(main);
  run();
  Fiber& fiber = fibers_[main];
  const bool answered = fiber.state == State::Scheduled;
  fiber.state = failed_ || !answered ? State::Over : State::Idle;
  if (failed_) return note("error");
  if (!answered) return note("deadlock");
  note((fiber.fails ? "failed " : "resumed ") + std::to_string(number));
}

}  // namespace fermata::models
