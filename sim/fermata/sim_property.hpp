// SPDX-License-Identifier: Apache-2.0
#pragma once

// The simulator with SIM_PROPERTY, whose arguments RapidCheck generates. Link
// fermata::sim_property.

#include "fermata/sim.hpp"
#include "fermata/sim/property/sim_property.hpp"
