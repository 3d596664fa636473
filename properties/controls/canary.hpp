// SPDX-License-Identifier: Apache-2.0
#pragma once

// Programs that are wrong, each in one way, and what must be told of each: the verdict, the class,
// the words that name the culprit, and the step by which the run is over. What there is to be told
// has at least one of them.

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <variant>
#include <vector>

#include "fermata/core/assertions.hpp"
#include "fermata/core/event.hpp"
#include "fermata/sim/record/failure.hpp"
#include "fermata/sim/waits/deadlock.hpp"
#include "fermata/sim/world/world.hpp"

namespace fermata::properties {

/// What more there is to a verdict: how nobody can go on, what was claimed, what was left.
using CanaryClass = std::variant<std::monostate, sim::detail::WaitClass, backend::AssertionKind,
                                 backend::EventKind>;

struct Canary {
  const char* name;
  sim::Verdict verdict;
  CanaryClass kind;
  const char* says;    // In the message or in what is told beneath it.
  std::uint64_t step;  // No later than this one the run is over.
  std::function<void(sim::World& world)> program;
};
std::ostream& operator<<(std::ostream& out, const Canary& canary);

/// Runs that go wrong.
[[nodiscard]] std::vector<Canary> wrong_runs();
/// Runs that leave an event behind, one of each kind.
[[nodiscard]] std::vector<Canary> leaking_runs();
/// All of them.
[[nodiscard]] std::vector<Canary> canaries();

/// What is not told of it as it must be, with all that is told; empty when nothing is missing.
[[nodiscard]] std::string complaint_about(const Canary& canary);

}  // namespace fermata::properties
