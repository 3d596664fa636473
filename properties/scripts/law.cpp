// SPDX-License-Identifier: Apache-2.0
#include "properties/scripts/law.hpp"

#include <utility>

namespace fermata::properties {
namespace {

struct Run {
  Run(const Script& script, MakeSubject make, sim::World& world)
      : stage(script, world), subject(make(stage)) {}
  Stage stage;
  std::unique_ptr<Subject> subject;
};

}  // namespace

void play(const Script& script, MakeSubject make, sim::World& world) {
  const auto run = std::make_shared<Run>(script, make, world);
  run->stage.play(*run->subject, run);
}

rc::Gen<Scenario> actor_scenarios(std::span<const Operation> operations, MakeSubject make) {
  return rc::gen::map(scripts(operations), [operations, make](Script made) {
    const auto script = std::make_shared<const Script>(std::move(made));
    const auto play_script = [script, make](sim::World& world) {
      play(*script, make, world);
      return Tally{};
    };
    return Scenario{play_script, [script, operations] { return to_text(*script, operations); }};
  });
}

}  // namespace fermata::properties
