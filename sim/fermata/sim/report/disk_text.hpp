// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "fermata/sim/record/run_log.hpp"
#include "fermata/sim/report/moment.hpp"

namespace fermata::sim {

/// The files of each machine, a line each: as programs see them, as they are durable, and a mark
/// where the two differ.
[[nodiscard]] std::string disk_text(const RunLog& run_log, const MomentOfRun& moment);

}  // namespace fermata::sim
