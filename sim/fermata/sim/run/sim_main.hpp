// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace fermata {

/// The main() of a test program: runs its GoogleTest tests and returns the verdict. 0 pass, 1
/// usage, 2 safety (or a test that is not a SIM_TEST failed), 3 liveness, 4 deadlock, 5
/// nondeterminism, 6 leak, 7 an obligation was missed (docs/guide/assertions.md), 8 a strict replay
/// diverged; of several the heaviest: 5, 2, 4, 3, 8, 6, 7.
int sim_main(int argc, char** argv);

}  // namespace fermata
