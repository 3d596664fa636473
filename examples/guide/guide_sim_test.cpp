// SPDX-License-Identifier: Apache-2.0

// The guide's tour in the simulator: it ends well under every schedule.

#include "examples/guide/guide.hpp"

#include <fermata/sim.hpp>

SIM_TEST(Guide, TourEndsWell) { guide::tour(); }
