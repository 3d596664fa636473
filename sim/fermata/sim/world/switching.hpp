// SPDX-License-Identifier: Apache-2.0
#pragma once

// From the world to a program and back.
//
// The world and a program go on in different functions, so that each one that returns between two
// switches is mispredicted: as in core/switching.hpp, what surrounds one becomes a part of its
// callers, the world and the reactor.

#include <algorithm>
#include <cstdint>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/inlining.hpp"
#include "fermata/context/switch.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/posix/kernel.hpp"
#include "fermata/sim/posix/library_images.hpp"
#include "fermata/sim/world/node_state.hpp"
#include "fermata/sim/world/reactor.hpp"
#include "fermata/sim/world/stage.hpp"

namespace fermata::sim::detail {

/// Opens, in the trace, what a node does until it gives way; of no kind of traces.
inline constexpr std::uint64_t kTurnOfNode = 0xff;

FERMATA_HOT bool NodeState::wait(Instant wake_by) {
  FERMATA_ASSERT(stage_.running_node() == this);
  FERMATA_ASSERT(!in_order());
  machine().count_wait();
  const Instant until = std::min(wake_by, agenda_.earliest());
  if (woken_ || until <= now_) {
    give_way();
  } else if (until != Instant::never() && !is_paused() && stage_.alone_until(until)) {
    if (stage_.within_time_limit(until)) advance(until);
  } else {
    wake_by_ = wake_by;
    yield_to_world(Phase::Waiting);
  }
  leave_if_over();
  woken_ = false;
  return std::exchange(shutdown_requested_, false);
}

FERMATA_HOT void NodeState::give_way() {
  FERMATA_ASSERT(stage_.running_node() == this);
  if (is_paused() || !stage_.alone_until(now_)) {
    yield_to_world(Phase::Ready);
  }
  leave_if_over();
}

FERMATA_HOT void NodeState::leave_if_over() {
  if (stage_.over()) leave_run();
}

FERMATA_HOT void NodeState::resume(Instant when) {
  FERMATA_ASSERT(phase_ != Phase::Ended);
  FERMATA_ASSERT(suspended_ != nullptr);
  began_ = true;
  stage_.turns().begin_turn(*this);
  advance(when);
  if (!stage_.over()) stage_.hash.add(kTurnOfNode, 0, key_);
  last_ran_ = stage_.set_running(this, context_);
  Runtime* const outside = std::exchange(fermata::detail::current_runtime_pointer, current_);
  switch_to_program();
  current_ = std::exchange(fermata::detail::current_runtime_pointer, outside);
  FERMATA_ASSERT(stage_.running_node() == this);
  stage_.set_running(nullptr, nullptr);
  if (phase_ != Phase::Ended) {
    stage_.turns().end_turn(*this, next_action(), last_ran_);
  } else {
    stage_.turns().remove(*this);
    stage_.ended(*this);
  }
}

// With its system and its variables for foreign code, if this program has any.
FERMATA_HOT void NodeState::switch_to_program() {
  FERMATA_ASSERT(stage_.running_node() == this);
  if (!posix::is_linked()) return switch_context(stage_.own_context(), *suspended_);
  SimKernel& process = machine().reactor_->running_process();
  process.serve();
  LibraryImages::instance().enter(process.image());
  const posix::Serving serving(&reactor_->running_process(), process.heap());
  switch_context(stage_.own_context(), *suspended_);
}

FERMATA_HOT void NodeState::yield_to_world(Phase phase) {
  FERMATA_ASSERT(stage_.running_node() == this);
  phase_ = phase;
  const bool in_runtime = runtime_->is_running();
  suspended_ = in_runtime ? runtime_->scheduler().running_context() : context_;
  switch_context(*suspended_, stage_.own_context());
}

}  // namespace fermata::sim::detail
