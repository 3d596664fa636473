// SPDX-License-Identifier: Apache-2.0
#include "fermata/core/wait_limit.hpp"

#include "fermata/base/assert.hpp"
#include "fermata/core/runtime.hpp"

namespace fermata::detail {

WaitLimit::WaitLimit(const WaitOptions& options)
    : WaitLimit(options, current_runtime().scheduler().require_suspendable("within")) {}

WaitLimit::WaitLimit(const WaitOptions& options, CoroutineBase& owner)
    : Limit(owner.limit()), owner_(owner) {
  FERMATA_ASSERT(options.timeout || options.token != nullptr);
  if (options.token != nullptr) {
    token_ = Ref<Event>::share(*options.token);
    on_token_ = subscribe(*token_, [this](Event& token, const Outcome&) {
      if (token.void_as_token()) return;
      by_token_ = true;
      reach(token);
    });
  }
  if (options.timeout) {
    timer_.emplace(owner_.runtime(), *options.timeout);
    on_timer_ = subscribe(*timer_, [this](Event& timer, const Outcome&) { reach(timer); });
    timer_->start();
  }
  owner_.set_limit(this);
}

WaitLimit::~WaitLimit() {
  FERMATA_ASSERT(owner_.limit() == this);
  FERMATA_ASSERT(outer_ != this);
  owner_.set_limit(outer_);
  if (due_ && !any_is_due(outer_)) owner_.unset(CoroutineBase::kLimitDue);
}

void WaitLimit::throw_on(const LimitReached& reached) const {
  if (!reached.is_of(*this)) throw;
  FERMATA_ASSERT(error_ != nullptr);
  FERMATA_ASSERT(!due_);
  if (by_token_) throw_cancelled_by(*token_);
  FERMATA_ASSERT(timer_.has_value());
  std::rethrow_exception(timer_->timeout_error());
}

void WaitLimit::reach(Event& source) {
  FERMATA_ASSERT(!owner_.is_closed());
  FERMATA_ASSERT(owner_.limit() != nullptr);
  if (error_) return;
  error_ = std::make_exception_ptr(LimitReached(*this));
  due_ = !owner_.runtime().scheduler().interrupt(owner_, source, error_);
}

}  // namespace fermata::detail
