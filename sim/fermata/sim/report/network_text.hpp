// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "fermata/sim/record/run_log.hpp"
#include "fermata/sim/report/moment.hpp"

namespace fermata::sim {

/// The connections between machines and the ways that datagrams took, a line for each direction,
/// with the bytes that were sent, that have arrived, that never do, and that are in flight; below
/// it the first of what has not arrived.
[[nodiscard]] std::string network_text(const RunLog& run_log, const MomentOfRun& moment);

}  // namespace fermata::sim
