// SPDX-License-Identifier: Apache-2.0
#pragma once

// What each verb does. All return the exit code, and throw fermata::Error when they cannot do what
// was asked.

#include "fermata/sim/cli/arguments.hpp"

namespace fermata::sim::cli {

int run_command(const Arguments& arguments);
int replay_command(const Arguments& arguments);
int shrink_command(const Arguments& arguments);
int explain_command(const Arguments& arguments);
int report_command(const Arguments& arguments);
int debug_command(const Arguments& arguments);
int inspect_command(const Arguments& arguments);
int list_command(const Arguments& arguments);
int merge_command(const Arguments& arguments);
int env_command(const Arguments& arguments);
int completion_command(const Arguments& arguments);

}  // namespace fermata::sim::cli
