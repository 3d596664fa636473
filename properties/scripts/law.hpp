// SPDX-License-Identifier: Apache-2.0
#pragma once

// Laws over one primitive, which several actors use.

#include <memory>
#include <span>

#include "properties/laws/law.hpp"
#include "properties/scripts/script.hpp"
#include "properties/scripts/stage.hpp"

namespace fermata::properties {

using MakeSubject = std::unique_ptr<Subject> (*)(Stage& stage);

/// Runs `script` inside the node of a world.
void play(const Script& script, MakeSubject make, sim::World& world);

[[nodiscard]] rc::Gen<Scenario> actor_scenarios(std::span<const Operation> operations,
                                                MakeSubject make);

/// Makes a subject of a type.
template <class S>
std::unique_ptr<Subject> make_subject(Stage& stage) {
  return std::make_unique<S>(stage);
}

/// Scripts over a subject of a type, with its operations.
template <class S, const auto& operations>
rc::Gen<Scenario> scripts_over() {
  return actor_scenarios(operations, &make_subject<S>);
}

}  // namespace fermata::properties
