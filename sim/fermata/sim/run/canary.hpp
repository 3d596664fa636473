// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace fermata::sim {

/// A test that every program of GoogleTest has when its command line or FERMATA_FUZZ names it. Its
/// planted bug, a lost update, shows in some schedules only: who explores it and finds nothing
/// would find nothing elsewhere.
inline constexpr const char* kCanaryTest = "FermataCanary.LosesAnUpdate";

/// Before GoogleTest is initialised.
void add_canary();
/// Adds it when the command line names it; before main().
void add_canary_if_asked();

}  // namespace fermata::sim
