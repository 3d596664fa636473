// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace fermata::posix {

/// From now on std::terminate() is served.
void watch_terminate() noexcept;

}  // namespace fermata::posix
