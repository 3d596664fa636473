// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace fermata::posix {

/// Lets the runtime call the C library's functions, whatever is served.
void fill_system_table() noexcept;

}  // namespace fermata::posix
