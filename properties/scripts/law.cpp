// SPDX-License-Identifier: Apache-2.0
#include "properties/scripts/law.hpp"

#include <utility>

namespace fermata::properties {
namespace {

struct Run {
  Run(const Script& script, const SubjectKind& kind, sim::World& world)
      : stage(script, kind.operations, world), subject(kind.make(stage)) {}
  Stage stage;
  std::unique_ptr<Subject> subject;
};

}  // namespace

void play(const Script& script, const SubjectKind& kind, sim::World& world) {
  const auto run = std::make_shared<Run>(script, kind, world);
  run->stage.play(*run->subject, run);
}

rc::Gen<Scenario> scripts_over(const SubjectKind& kind) {
  return rc::gen::map(scripts(kind.operations), [kind](Script made) {
    const auto script = std::make_shared<const Script>(std::move(made));
    const auto play_script = [script, kind](sim::World& world) {
      play(*script, kind, world);
      return Tally{};
    };
    return Scenario{play_script, [script, kind] { return to_text(*script, kind.operations); }};
  });
}

}  // namespace fermata::properties
