// SPDX-License-Identifier: Apache-2.0
#pragma once

// `fermata fleet`: one exploration by many workers, on as many machines as there are. Whoever
// places, queues and retries brings workers, not work: each takes chunks from the folder of the
// plan until none is left. All return the exit code, as the other commands do.

#include <memory>

#include "fermata/core/reactor.hpp"
#include "fermata/sim/cli/arguments.hpp"

namespace fermata::sim::cli {

/// Makes a reactor that has files.
using MakeReactor = std::unique_ptr<backend::Reactor> (*)();

/// `fleet plan` and `fleet fuzz`.
int fleet_plan_command(const Arguments& arguments, MakeReactor make_reactor);
int fleet_work_command(const Arguments& arguments, MakeReactor make_reactor);
int fleet_status_command(const Arguments& arguments, MakeReactor make_reactor);
int fleet_watch_command(const Arguments& arguments, MakeReactor make_reactor);
int fleet_result_command(const Arguments& arguments);
int fleet_compare_command(const Arguments& arguments);
int fleet_slurm_command(const Arguments& arguments);

}  // namespace fermata::sim::cli
