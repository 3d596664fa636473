// SPDX-License-Identifier: Apache-2.0
#include "properties/interpreter/machine.hpp"

#include <string>
#include <vector>

#include "properties/interpreter/player.hpp"
#include "properties/interpreter/stage.hpp"
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
  Judge(Stage& stage, const Arena::Ending& ending) : stage_(stage), ending_(ending) {
    unwound_ =
        stage.unwound || stage.deadlocks > 3 || lines_with(ending.log, "ending by force") > 0;
  }

  void judge() {
    judge_ending();
    judge_counts();
    for (const Task& task : stage_.tasks) stage_.complain(task, task.life.settled(unwound_));
    judge_errors();
  }

 private:
  void judge_ending() {
    const auto exit_errors = stage_.runtime().exit_errors();
    const std::size_t deadlocks = errors_of_type<DeadlockError>(exit_errors);
    if (deadlocks != stage_.deadlocks) {
      stage_.complain("CORE-SC-11 (ERR): " + std::to_string(stage_.deadlocks) +
                      " deadlocks were reported, the exit error has " + std::to_string(deadlocks));
    }
    if (static_cast<bool>(ending_.error) != !exit_errors.empty()) {
      stage_.complain("CORE-SC-15 (ERR): what ended the run was not thrown, or nothing was");
    }
    if (stage_.shutdowns > 0 && stage_.runtime().now() - stage_.shutdown_began > kShutdownLimit) {
      stage_.complain("CORE-SC-14 (SHUT): the shutdown took longer than its deadline");
    }
  }

  void judge_counts() {
    Runtime& runtime = stage_.runtime();
    const detail::Scheduler& scheduler = runtime.scheduler();
    if (!runtime.registry().empty() || !scheduler.ready().empty() ||
        !scheduler.microtasks().empty() || scheduler.active_coroutine_count() != 0 ||
        scheduler.contexts().stats().live != 0) {
      stage_.complain("CORE-SC-14 (SHUT): something outlived the run");
    }
    if (!unwound_ && runtime.active_event_count() != 0) {
      stage_.complain("CORE-GL-09 (SHUT): the loop ended though an event is active");
    }
    if (!unwound_ && stage_.microtasks_run != stage_.microtasks_queued) {
      stage_.complain("CORE-SC-04 (ONCE): " + std::to_string(stage_.microtasks_queued) +
                      " microtasks were queued, " + std::to_string(stage_.microtasks_run) + " ran");
    }
  }

  // Each error that ended a coroutine was taken by somebody, or its coroutine still has it.
  void judge_errors() {
    if (errors_of_type<PlannedError>(stage_.runtime().exit_errors()) != 0) {
      stage_.complain("CORE-GL-05 (ERR): an error that somebody holds was reported as unhandled");
    }
    for (const Task& task : stage_.tasks) {
      if (!task.failed) continue;
      const Fate& fate = stage_.errors[task.error_number];
      if (fate.delivered == 0 && (!task.handle || !task.handle->error())) {
        stage_.complain(task, "CORE-GL-05 (ERR): an error was lost");
      }
      if (task.handle && task.handle->exception_caught() != fate.taken) {
        stage_.complain(task, fate.taken
                                  ? "CORE-CO-10 (ERR): an error that was taken is unhandled"
                                  : "CORE-CO-10 (ERR): nobody took an error that is handled");
      }
    }
  }

  Stage& stage_;
  const Arena::Ending& ending_;
  bool unwound_;
};

}  // namespace

models::Complaint Machine::run(Chooser* chooser, const Program& program,
                               sim::WakeListener* wakes) {
  Arena& arena = *arena_;
  {
    Stage stage(arena, program);
    Player player(stage);
    Witness witness(stage);
    const Arena::Ending ending = arena.run(chooser, witness, wakes, [&] { player.play_main(); });
    tally_ = {};
    tally_.virtual_time = arena.runtime().now() - Instant{};
    tally_.coroutines = static_cast<std::uint32_t>(stage.tasks.size());
    tally_.deadlocks = stage.deadlocks;
    tally_.shutdowns = stage.shutdowns;
    if (!arena.findings().any() && !ending.cut) Judge(stage, ending).judge();
    arena.runtime().kernel().observer = arena.findings().any() ? nullptr : &arena.audit();
    for (Listener* listener : stage.listeners) {
      if (Event* event = listener->event()) event->remove_callback(*listener);
      if (listener->ref_count() != 1) {
        stage.complain("CORE-CB-06 (REF): somebody still holds an unsubscribed callback");
      }
    }
  }
  if (!arena.findings().any()) judge_remains();
  tally_.steps = arena.findings().steps;
  tally_.trace_hash = arena.findings().hash.value();
  const models::Complaint complaint = arena.findings().first();
  arena.runtime().kernel().observer = nullptr;
  if (!arena.runtime().kernel().live_events.empty()) {
    static_cast<void>(arena_.release());  // What has leaked may still refer to it.
  }
  if (arena_ == nullptr || !complaint.empty()) arena_ = std::make_unique<Arena>();
  return complaint;
}

void Machine::judge_remains() {
  Runtime& runtime = arena_->runtime();
  if (runtime.timers().size() != 0 || runtime.active_event_count() != 0) {
    arena_->findings().add("CORE-EV-10 (STOP): events are active after everything is gone");
  }
  arena_->audit().end_run();
}

}  // namespace fermata::properties
