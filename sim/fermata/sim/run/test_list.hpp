// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which tests of this program are simulated. With FERMATA_INTERNAL_LIST a program writes that to a
// file and ends, whichever main() it has.
//
// The file  "fermata-tests 1", a line "FILE:LINE Suite.Name" for each, "end" and how many tests the
//           program has beside them.

namespace fermata::sim::detail {

/// Each simulated test calls this before main(). `suite`, `name` and `file` are literals.
bool register_simulated_test(const char* suite, const char* name, const char* file, int line);

/// Writes the list and ends the program, when it was asked for.
void list_tests_if_asked();

}  // namespace fermata::sim::detail
