// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fermata/reactor/request.hpp"
#include "fermata/sync/operation.hpp"

namespace fermata::detail {

/// Waits until `request` has ended; throws its error. One that has ended already does not suspend.
inline void finish(backend::Request& request, const WaitOptions& options,
                   const SourcePlace& place) {
  if (!request.is_completed() || request.error()) wait(request, options, place);
}

}  // namespace fermata::detail
