// SPDX-License-Identifier: Apache-2.0
#pragma once

// Why a run failed: its steps, the decision that decides, who was suspended where just then, and
// how the nearest run that passes goes on.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fermata/sim/record/culprit.hpp"
#include "fermata/sim/record/found_failure.hpp"

namespace fermata::sim {

/// One side of the deciding pair.
struct Party {
  std::string coroutine;
  /// "folder/file.cpp:12": where it was suspended, or spawned when it had not begun.
  std::string place;
  bool begun = false;
  /// The functions of the program it was in, innermost first.
  std::vector<std::string> stack;
};

struct Explanation {
  /// The table of the failing run, the deciding decision marked.
  std::string table;
  /// What decides, in a sentence, with the shares of failures around it. Empty without a decision.
  std::string verdict;
  /// Who ran, and who would have run in production: only when a pick decides.
  std::optional<Party> first;
  std::optional<Party> second;
  /// How the nearest passing run goes on from there; empty when there is none, or when that tells
  /// nothing.
  std::string passing_table;
  /// The nearest passing run; null when there is none.
  std::shared_ptr<const RunLog> passing;
  /// Which of the run's turns decides.
  std::optional<std::size_t> decisive;

  /// All of it, for people.
  [[nodiscard]] std::string text() const;
};

struct ExplainOptions {
  /// With the functions that were suspended, which takes a second or so.
  bool stacks = false;
  /// With every step, however many there are.
  bool all_steps = false;
};

/// `found` was watched closely; `culprit` is of its tape.
[[nodiscard]] Explanation explain(const FoundFailure& found, const Culprit& culprit,
                                  const ExplainOptions& options = {});

}  // namespace fermata::sim
