// SPDX-License-Identifier: Apache-2.0
#pragma once

// The simulator and test harness, as users include it: <fermata/sim.hpp>. To explore from code,
// include <fermata/sim/run/explore.hpp>.

#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sim/guard/guard.hpp"
#include "fermata/sim/history/history.hpp"
#include "fermata/sim/run/sim_main.hpp"
#include "fermata/sim/run/sim_test.hpp"
#include "fermata/sim/waits/explain.hpp"
#include "fermata/sim/world/world.hpp"
#include "fermata/sync/await.hpp"
