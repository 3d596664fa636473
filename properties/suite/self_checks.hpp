// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether the suite would have seen anything: an exploration that finds nothing says little when
// its oracles are blind or its faults never strike. Each prints what is wrong, and returns what the
// process is to end with.

#include <cstdint>

#include "properties/suite/exploration.hpp"

namespace fermata::properties::suite {

/// Tries all negative controls, and counts them in `tried`.
[[nodiscard]] int try_controls(std::uint64_t& tried);

/// Each kind of fault has struck in `result`, of an exploration of everything with all faults;
/// except for those that no program of the suite asks for.
[[nodiscard]] int check_faults(const Result& result);

}  // namespace fermata::properties::suite
