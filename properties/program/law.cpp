// SPDX-License-Identifier: Apache-2.0
#include "properties/program/law.hpp"

#include <memory>
#include <utility>

#include "properties/interpreter/machine.hpp"

namespace fermata::properties {

Vocabulary program_steps(const Weights& ops) { return {ops, 8, 8}; }

rc::Gen<Program> programs(const Profile& profile) {
  const auto event = rc::gen::map(number_below(profile.events.total()),
                                  [events = profile.events](unsigned number) {
                                    return static_cast<ProgramEvent>(events.choose(number));
                                  });
  return rc::gen::apply(
      [](std::vector<ProgramEvent> events, Steps main, std::vector<Steps> bodies,
         std::vector<Steps> callbacks) {
        bodies.insert(bodies.begin(), std::move(main));
        return Program{std::move(events), std::move(bodies), std::move(callbacks)};
      },
      several(1, 4, event), steps(40, program_steps(profile.main)),
      several(3, 10, steps(16, program_steps(profile.body))),
      several(1, 4, steps(8, program_steps(profile.callback))));
}

rc::Gen<Scenario> program_scenarios(const rc::Gen<Program>& programs) {
  return rc::gen::map(programs, [machine = std::make_shared<Machine>()](Program made) {
    const auto program = std::make_shared<const Program>(std::move(made));
    return Scenario{
        [machine, program](sim::World& world) { return machine->play(*program, world); },
        [program] { return to_text(*program); }};
  });
}

}  // namespace fermata::properties
