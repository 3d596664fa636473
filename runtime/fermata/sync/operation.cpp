// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/operation.hpp"

#include <algorithm>

#include "fermata/base/assert.hpp"
#include "fermata/core/timer.hpp"

namespace fermata::detail {

void check_given(const WaitOptions& options) {
  if (options.timeout) require_valid_span(*options.timeout);
  if (options.token == nullptr) return;
  options.token->mark_used_as_token();
  options.token->touched();
  if (options.token->is_closed() && !options.token->void_as_token())
    throw_cancelled_by(*options.token);
}

Deadline::Deadline(const WaitOptions& options) : options_(options) {
  if (options.timeout) end_ = now() + *options.timeout;
  if (options.token != nullptr) token_ = Ref<Event>::share(*options.token);
}

WaitOptions Deadline::remaining() const {
  WaitOptions left = options_;
  if (left.timeout) left.timeout = std::max(end_ - now(), Duration::zero());
  return left;
}

void Deadline::throw_timeout() const {
  FERMATA_ASSERT(options_.timeout.has_value());
  std::rethrow_exception(Timer(current_runtime(), *options_.timeout).timeout_error());
}

}  // namespace fermata::detail
