// SPDX-License-Identifier: Apache-2.0
#pragma once

// Adds to what debuggers find (core/debugger.hpp) where primitives and channels keep their names.

namespace fermata::detail {

/// To be called before main(). Returns true.
bool tell_debuggers_of_names() noexcept;

}  // namespace fermata::detail
