// SPDX-License-Identifier: Apache-2.0
#include "properties/interpreter/machine.hpp"

#include <string>
#include <vector>

#include "fermata/sim/world/world_access.hpp"
#include "properties/interpreter/player.hpp"
#include "properties/interpreter/state.hpp"
#include "properties/interpreter/witness.hpp"

namespace fermata::properties {
namespace {

/// The graceful part of a shutdown, and what a program may compute in it.
constexpr Duration kShutdownLimit = std::chrono::seconds(5) + std::chrono::seconds(1);

std::size_t lines_with(const std::string& log, std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = log.find(text); at != std::string::npos; at = log.find(text, at + 1)) {
    ++count;
  }
  return count;
}

template <class E>
std::size_t errors_of_type(const std::vector<std::exception_ptr>& errors) {
  std::size_t count = 0;
  for (const std::exception_ptr& error : errors) {
    try {
      std::rethrow_exception(error);
    } catch (const E&) {
      ++count;
    } catch (...) {
    }
  }
  return count;
}

/// Looks at what is left when a run is over.
class Judge {
 public:
  Judge(ProgramState& state, const Arena::Ending& ending) : state_(state), ending_(ending) {
    unwound_ =
        state.unwound || state.deadlocks > 3 || lines_with(ending.log, "ending by force") > 0;
  }

  void judge() {
    judge_ending();
    judge_counts();
    for (const Task& task : state_.tasks) state_.complain(task, task.life.settled(unwound_));
    judge_errors();
  }

 private:
  void judge_ending() {
    const auto exit_errors = state_.runtime().exit_errors();
    const std::size_t deadlocks = errors_of_type<DeadlockError>(exit_errors);
    if (deadlocks != state_.deadlocks) {
      state_.complain("CORE-SC-11 (ERR): " + std::to_string(state_.deadlocks) +
                      " deadlocks were reported, the exit error has " + std::to_string(deadlocks));
    }
    if (static_cast<bool>(ending_.error) != !exit_errors.empty()) {
      state_.complain("CORE-SC-15 (ERR): what ended the run was not thrown, or nothing was");
    }
    if (state_.shutdowns > 0 && state_.runtime().now() - state_.shutdown_began > kShutdownLimit) {
      state_.complain("CORE-SC-14 (SHUT): the shutdown took longer than its deadline");
    }
  }

  void judge_counts() {
    Runtime& runtime = state_.runtime();
    const detail::Scheduler& scheduler = runtime.scheduler();
    if (!runtime.registry().empty() || !scheduler.ready().empty() ||
        !scheduler.microtasks().empty() || scheduler.active_coroutine_count() != 0 ||
        scheduler.contexts().stats().live != 0) {
      state_.complain("CORE-SC-14 (SHUT): something outlived the run");
    }
    if (!unwound_ && runtime.active_event_count() != 0) {
      state_.complain("CORE-GL-09 (SHUT): the loop ended though an event is active");
    }
    if (!unwound_ && state_.microtasks_run != state_.microtasks_queued) {
      state_.complain("CORE-SC-04 (ONCE): " + std::to_string(state_.microtasks_queued) +
                      " microtasks were queued, " + std::to_string(state_.microtasks_run) + " ran");
    }
  }

  // Each error that ended a coroutine was taken by somebody, or its coroutine still has it.
  void judge_errors() {
    if (errors_of_type<PlannedError>(state_.runtime().exit_errors()) != 0) {
      state_.complain("CORE-GL-05 (ERR): an error that somebody holds was reported as unhandled");
    }
    for (const Task& task : state_.tasks) {
      if (!task.failed) continue;
      const Fate& fate = state_.errors[task.error_number];
      if (fate.delivered == 0 && (!task.handle || !task.handle->error())) {
        state_.complain(task, "CORE-GL-05 (ERR): an error was lost");
      }
      if (task.handle && task.handle->exception_caught() != fate.taken) {
        state_.complain(task, fate.taken
                                  ? "CORE-CO-10 (ERR): an error that was taken is unhandled"
                                  : "CORE-CO-10 (ERR): nobody took an error that is handled");
      }
    }
  }

  ProgramState& state_;
  const Arena::Ending& ending_;
  bool unwound_;
};

}  // namespace

Tally Machine::play(const Program& program, sim::World& world) {
  detail::Kernel& kernel = current_runtime().kernel();
  sim::WakeListener* const wakes = sim::detail::WorldAccess(world).instruments().wakes;
  const Result result = run(kernel.chooser, program, wakes);
  kernel.trace(backend::Trace::TimeAdvanced, nullptr, result.trace_hash);
  sim::consume(result.virtual_time);
  if (!result.complaint.empty()) world.fail(sim::Verdict::Safety, result.complaint);
  return result.tally;
}

Machine::Result Machine::run(backend::Chooser* chooser, const Program& program,
                             sim::WakeListener* wakes) {
  Arena& arena = *arena_;
  Result result;
  {
    ProgramState state(arena, program);
    Player player(state);
    Witness witness(state);
    const Arena::Ending ending = arena.run(chooser, witness, wakes, [&] { player.play_main(); });
    result.virtual_time = arena.runtime().now() - Instant{};
    result.tally.coroutines = state.tasks.size();
    result.tally.deadlocks = state.deadlocks;
    result.tally.shutdowns = state.shutdowns;
    if (!arena.findings().any() && !ending.cut) Judge(state, ending).judge();
    arena.runtime().kernel().observer = arena.findings().any() ? nullptr : &arena.audit();
    for (Listener* listener : state.listeners) {
      if (Event* event = listener->event()) event->remove_callback(*listener);
      if (listener->ref_count() != 1) {
        state.complain("CORE-CB-06 (REF): somebody still holds an unsubscribed callback");
      }
    }
  }
  if (!arena.findings().any()) judge_remains();
  result.tally.steps = arena.findings().steps;
  result.trace_hash = arena.findings().hash.value();
  result.complaint = arena.findings().first();
  arena.runtime().kernel().observer = nullptr;
  if (!arena.runtime().kernel().live_events.empty()) {
    static_cast<void>(arena_.release());  // What has leaked may still refer to it.
  }
  if (arena_ == nullptr || !result.complaint.empty()) arena_ = std::make_unique<Arena>();
  return result;
}

void Machine::judge_remains() {
  Runtime& runtime = arena_->runtime();
  if (runtime.timers().size() != 0 || runtime.active_event_count() != 0) {
    arena_->findings().add("CORE-EV-10 (STOP): events are active after everything is gone");
  }
  arena_->audit().end_run();
}

}  // namespace fermata::properties
