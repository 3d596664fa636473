// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the operations of this folder have in common.
//
// Options  Each takes WaitOptions. A token that has fired is looked at before anything is done, so
//          that nothing is taken (EVT-06); a timeout covers the whole operation.
// Waiting  An operation that is complete already does not suspend.

#include <optional>

#include "fermata/runtime/core/suspend.hpp"
#include "fermata/runtime/reactor/request.hpp"

namespace fermata::detail {

/// Throws OperationCanceled when the token has fired.
void check_token(const WaitOptions& options);

/// Waits until `request` has ended; throws its error.
void finish(Request& request, const WaitOptions& options, const SourcePlace& place);

/// Options of the parts of an operation that share its one timeout.
class Deadline {
 public:
  explicit Deadline(const WaitOptions& options);
  /// With what is left of the timeout.
  [[nodiscard]] WaitOptions remaining() const;

 private:
  WaitOptions options_;
  Instant end_ = Instant::never();
};

}  // namespace fermata::detail
