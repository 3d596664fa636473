// SPDX-License-Identifier: Apache-2.0
#include "properties/laws/law.hpp"

#include <array>
#include <string>

#include "fermata/runtime.hpp"
#include "fermata/sim/world/world.hpp"
#include "properties/laws/bystanders.hpp"

namespace fermata::properties {

std::span<const Law* const> laws() {
  static const std::array all = {&kReferenceCounts, &kCallbackDeletion, &kGracefulShutdown,
                                 &kDeadlock,        &kWakers,           &kLifecycle,
                                 &kTimers};
  return all;
}

void play(Machine& machine, const Program& program, sim::World& world) {
  detail::Kernel& kernel = current_runtime().kernel();
  const models::Complaint complaint = machine.run(kernel.chooser, program, world.options().wakes);
  kernel.trace(Trace::TimeAdvanced, nullptr, machine.tally().trace_hash);
  sim::consume(machine.tally().virtual_time);
  if (!complaint.empty()) world.fail(sim::Verdict::Safety, complaint);
}

sim::Program exploration_of(const Law& law, Totals* totals) {
  struct State {
    Machine machine;
    Program program;
  };
  const auto state = std::make_shared<State>();
  sim::Program exploration;
  exploration.prepare = [state, &law](const sim::Preparation& preparation) {
    state->program = shrinkable_program(law.profile, preparation.seed).value();
  };
  exploration.body = [state, totals](sim::World& world) {
    play(state->machine, state->program, world);
    if (totals == nullptr) return;
    const Tally& tally = state->machine.tally();
    totals->steps += tally.steps;
    totals->coroutines += tally.coroutines;
    totals->deadlocks += tally.deadlocks;
    totals->shutdowns += tally.shutdowns;
  };
  exploration.arguments = [state] { return to_text(state->program); };
  return exploration;
}

sim::Program exploration_of_bystanders() {
  const auto bystanders = std::make_shared<Bystanders>();
  sim::Program exploration;
  exploration.prepare = [bystanders](const sim::Preparation& preparation) {
    bystanders->prepare(preparation.seed);
  };
  exploration.body = [bystanders](sim::World& world) {
    const auto running = bystanders->spawn_all();
    const models::Complaint complaint = bystanders->join(running);
    if (!complaint.empty()) world.fail(sim::Verdict::Safety, complaint);
  };
  exploration.arguments = [bystanders] {
    return std::to_string(bystanders->count()) + " bystanders";
  };
  return exploration;
}

}  // namespace fermata::properties
