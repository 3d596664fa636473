// SPDX-License-Identifier: Apache-2.0
#pragma once

// Marks for functions of the hot paths. What surrounds a switch is one function, since a return
// between two switches may be mispredicted; what is rare stays out of it.

#define FERMATA_HOT [[gnu::always_inline]] inline
#define FERMATA_COLD [[gnu::noinline, gnu::cold]]
