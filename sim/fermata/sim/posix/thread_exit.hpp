// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace fermata::sim::detail {

/// Leaves the code of a foreign thread, as pthread_exit() does.
struct ThreadExit {
  void* result;
};

}  // namespace fermata::sim::detail
