// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/record/shrunk.hpp"

#include <fmt/format.h>

#include "fermata/base/assert.hpp"
#include "fermata/sim/base/counted.hpp"

namespace fermata::sim {

std::string Shrunk::summary() const {
  FERMATA_ASSERT(found.tape.decisions.size() <= decisions_before);
  std::string text = fmt::format("shrunk: {} -> {}", counted(decisions_before, "decision"),
                                 found.tape.decisions.size());
  if (smaller_arguments > 0) {
    text += fmt::format(", arguments {} times smaller", smaller_arguments);
  }
  text += fmt::format(" ({}{}{})", counted(runs, "run"), cost.empty() ? "" : " ", cost);
  if (!minimal) text += "; there was more to try";
  if (!minimal && cost.empty()) text += " (--shrink-runs)";
  return text;
}

}  // namespace fermata::sim
