// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace fermata::uring::detail {

/// Throws InputOutputError unless the system lets this process use io_uring, with everything that
/// the reactor needs.
void require_available();

}  // namespace fermata::uring::detail
