// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <utility>

#include "fermata/base/inlining.hpp"
#include "fermata/core/switching.hpp"
#include "fermata/reactor/request.hpp"
#include "fermata/sync/operation.hpp"

namespace fermata::detail {

/// Waits until `request` has ended; throws its error. One that has ended already does not suspend.
inline void finish(backend::Request& request, const WaitOptions& options,
                   const SourcePlace& place) {
  if (!request.is_completed() || request.error()) wait(request, options, place);
}

/// Waits until `request` has ended; returns its error, or null. One that has ended already does not
/// suspend.
FERMATA_HOT std::exception_ptr end_of(backend::Request& request, const WaitOptions& options,
                                      const SourcePlace& place) {
  if (request.is_completed() && !request.error()) return nullptr;
  return wait_for_end_within(request, options, place);
}

/// Makes a request from `arguments`, waits until it has ended and returns what `take` makes of it.
/// An error is thrown when the request is gone, so that unwinding has nothing to destroy here:
/// errors that programs expect, such as a reset or a timeout, cost a third.
template <class Request, class Take, class... Arguments>
FERMATA_HOT auto perform(const WaitOptions& options, const SourcePlace& place, const Take& take,
                         Arguments&&... arguments) {
  std::exception_ptr error;
  {
    Request request(std::forward<Arguments>(arguments)...);
    error = end_of(request, options, place);
    if (!error) return take(request);
  }
  std::rethrow_exception(std::move(error));
}

}  // namespace fermata::detail
