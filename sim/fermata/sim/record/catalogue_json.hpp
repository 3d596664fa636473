// SPDX-License-Identifier: Apache-2.0
#pragma once

// A catalogue as one process writes it for another.

#include "fermata/sim/base/json.hpp"
#include "fermata/sim/record/catalogue.hpp"

namespace fermata::sim {

/// An array of the claims, with the members kind, message, place, condition, numeric, reached,
/// held; least and most only of those that compare numbers and were reached.
[[nodiscard]] Json json_of(const Catalogue& catalogue);

/// Reads a catalogue from JSON. Throws UsageError, or what nlohmann's JSON throws, when `json` is
/// not one.
[[nodiscard]] Catalogue catalogue_of(const Json& json);

}  // namespace fermata::sim
