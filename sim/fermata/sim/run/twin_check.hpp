// SPDX-License-Identifier: Apache-2.0
#pragma once

// FERMATA_CHECK_DETERMINISM=twin: the runs of an exploration that were checked are made again in
// another process, which has another layout of memory, environment and locale, and by another build
// of the test when there is one. They are made in the opposite order, so that what one run leaves
// for another, in a static variable say, is not the same there. A run that is another one there
// depends on what no tape has.

#include <optional>
#include <string>

#include "fermata/sim/run/environment.hpp"
#include "fermata/sim/run/explore.hpp"
#include "fermata/sim/run/runner.hpp"

namespace fermata::sim::detail {

/// The first of `result.checked` that has another twin, as a failure that says which of the
/// circumstances does it and which step is the first to differ. Throws InputOutputError when no
/// process can be started.
[[nodiscard]] std::optional<FoundFailure> find_other_twin(const Program& program,
                                                          const ExploreOptions& explore,
                                                          const ExploreResult& result,
                                                          const Options& options);

}  // namespace fermata::sim::detail
