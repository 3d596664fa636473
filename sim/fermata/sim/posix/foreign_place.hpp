// SPDX-License-Identifier: Apache-2.0
#pragma once

// Places in code that was not written for Fermata, for people.

#include "fermata/base/source_place.hpp"

namespace fermata::sim::detail {

/// The library that `caller` is in, and the function if its name is known. Its texts last as long
/// as the library is loaded.
[[nodiscard]] SourcePlace place_of(const void* caller) noexcept;

/// The line of the program that has called foreign code on the present stack; place_of() when none
/// is known. Slow when it is asked for a place the first time. Its texts last forever.
[[nodiscard]] SourcePlace line_of(const void* caller);

}  // namespace fermata::sim::detail
