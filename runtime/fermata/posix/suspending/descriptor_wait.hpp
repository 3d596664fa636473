// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <span>

#include "fermata/base/source_place.hpp"
#include "fermata/posix/kernel.hpp"

namespace fermata::posix {

/// Suspends the current coroutine until one of `asked` may be ready. 0, or a negative errno when
/// one cannot be watched. Throws Timeout, and what ends waits.
[[nodiscard]] int wait_for_descriptors(std::span<const pollfd> asked, Limit limit,
                                       const SourcePlace& place);

}  // namespace fermata::posix
