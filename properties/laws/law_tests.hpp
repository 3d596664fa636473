// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fermata/base/source_place.hpp"
#include "properties/laws/law.hpp"

namespace fermata::properties {

/// Adds two tests of `law`: a property, whose scripts RapidCheck makes, shrinks and keeps on tapes,
/// and the other strategies.
void add_tests(const Law& law, const char* suite, const char* property, const char* strategies,
               const SourcePlace& place);

}  // namespace fermata::properties
