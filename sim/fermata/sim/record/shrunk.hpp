// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "fermata/base/assert.hpp"
#include "fermata/sim/base/counted.hpp"
#include "fermata/sim/record/found_failure.hpp"

namespace fermata::sim {

/// A failing run that was made small.
struct Shrunk {
  /// The smaller failure, with the tape and the picture of the smaller run. The picture of a crash
  /// ends before the step that ends the process.
  FoundFailure found;
  std::size_t decisions_before = 0;  // Those that reports show.
  /// How often the arguments were made smaller.
  std::size_t smaller_arguments = 0;
  std::uint64_t runs = 0;
  /// Whether nothing was left untried: no single decision can be dropped.
  bool minimal = false;
  /// More about what the runs cost: "in processes of their own, 1.2 s". May be empty.
  std::string cost;

  /// "shrunk: 412 decisions -> 2, arguments 7 times smaller (187 runs)".
  [[nodiscard]] std::string summary() const {
    FERMATA_ASSERT(count_shown(found.tape) <= decisions_before);
    std::string text = fmt::format("shrunk: {} -> {}", counted(decisions_before, "decision"),
                                   count_shown(found.tape));
    if (smaller_arguments > 0) {
      text += fmt::format(", arguments {} times smaller", smaller_arguments);
    }
    text += fmt::format(" ({}{}{})", counted(runs, "run"), cost.empty() ? "" : " ", cost);
    if (!minimal) text += "; there was more to try";
    if (!minimal && cost.empty()) text += " (--shrink-runs)";
    return text;
  }
};

}  // namespace fermata::sim
