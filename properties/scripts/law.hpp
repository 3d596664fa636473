// SPDX-License-Identifier: Apache-2.0
#pragma once

// Laws over one primitive, which several actors use.

#include <memory>
#include <span>

#include "properties/laws/law.hpp"
#include "properties/scripts/script.hpp"
#include "properties/scripts/stage.hpp"

namespace fermata::properties {

/// What a law's scripts are about.
struct SubjectKind {
  std::span<const Operation> operations;
  std::unique_ptr<Subject> (*make)(Stage& stage);
};

/// A type of subjects: S::operations() is what actors do with one.
template <class S>
SubjectKind kind_of() {
  static constexpr auto kOperations = S::operations();
  return {kOperations,
          [](Stage& stage) -> std::unique_ptr<Subject> { return std::make_unique<S>(stage); }};
}

/// Runs `script` inside the node of a world.
void play(const Script& script, const SubjectKind& kind, sim::World& world);

[[nodiscard]] rc::Gen<Scenario> scripts_over(const SubjectKind& kind);

template <class S>
rc::Gen<Scenario> scripts_over() {
  return scripts_over(kind_of<S>());
}

}  // namespace fermata::properties
