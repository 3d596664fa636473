// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the blocking operations have in common.
//
// Options  Each takes WaitOptions. They are looked at before anything is done, so that a token that
//          has fired takes nothing (EVT-06); a timeout covers the whole operation.
// Waiting  An operation that is complete already does not suspend.

#include "fermata/core/suspend.hpp"

namespace fermata::detail {

/// Whether there is neither a timeout nor a token.
[[nodiscard]] inline bool waits_plainly(const WaitOptions& options) noexcept {
  return !options.timeout && options.token == nullptr;
}

/// check_token() of options that are not plain.
void check_given(const WaitOptions& options);

/// Throws UsageError on a negative timeout, OperationCancelled when the token has fired.
inline void check_token(const WaitOptions& options) {
  if (!waits_plainly(options)) [[unlikely]] {
    check_given(options);
  }
}

/// Options of the parts of an operation that share its one timeout, and its token, which lives as
/// long as this.
class Deadline {
 public:
  explicit Deadline(const WaitOptions& options);
  /// The options with the rest of the timeout.
  [[nodiscard]] WaitOptions remaining() const;
  /// Throws the Timeout of the whole operation. REQUIRES: it has a timeout.
  [[noreturn]] void throw_timeout() const;

 private:
  WaitOptions options_;
  Ref<Event> token_;
  Instant end_ = Instant::never();
};

}  // namespace fermata::detail
