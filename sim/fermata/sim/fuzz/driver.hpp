// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who brings inputs to the test that fuzz_main.cpp fuzzes. There are two of these, and a program
// has one: libFuzzer (libfuzzer_driver.cpp), and files that are read once each (files_driver.cpp).

#include "fermata/sim/fuzz/session.hpp"

namespace fermata::sim::detail {

/// Takes the program's command line. Throws UsageError when it is invalid.
void take_arguments(int argc, char** argv);

/// Drives a session; see FuzzDriver.
void drive(FuzzSession& session);

}  // namespace fermata::sim::detail
