// SPDX-License-Identifier: Apache-2.0
#include "fermata/runtime/io/operation.hpp"

#include <algorithm>

#include "fermata/runtime/base/error.hpp"

namespace fermata::detail {

void check_token(const WaitOptions& options) {
  if (options.token == nullptr) return;
  options.token->mark_result_used();
  if (!options.token->closed()) return;
  options.token->mark_exception_caught();
  OperationCanceled cancelled;
  if (const Outcome* outcome = options.token->replay()) cancelled.set_previous(outcome->error);
  throw cancelled;
}

void finish(Request& request, const WaitOptions& options, const SourcePlace& place) {
  if (!request.completed() || request.error()) wait(request, options, place);
}

Deadline::Deadline(const WaitOptions& options) : options_(options) {
  if (options.timeout) end_ = now() + *options.timeout;
}

WaitOptions Deadline::remaining() const {
  WaitOptions left = options_;
  if (left.timeout) left.timeout = std::max(end_ - now(), Duration::zero());
  return left;
}

}  // namespace fermata::detail
