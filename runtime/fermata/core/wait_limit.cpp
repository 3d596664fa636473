// SPDX-License-Identifier: Apache-2.0
#include "fermata/core/wait_limit.hpp"

#include "fermata/base/assert.hpp"
#include "fermata/core/runtime.hpp"

namespace fermata::detail {

WaitLimit::WaitLimit(const WaitOptions& options)
    : WaitLimit(options, current_runtime().scheduler().require_suspendable("within")) {
  start();
}

WaitLimit::WaitLimit(const WaitOptions& options, CoroutineBase& owner)
    : Limit(owner.limit(), owner.shelter()), owner_(owner) {
  FERMATA_ASSERT(options.timeout || options.token != nullptr);
  if (options.token != nullptr) {
    token_ = Ref<Event>::share(*options.token);
    on_token_ = subscribe(*token_, [this](Event& token, const Outcome& outcome) {
      token_fired(token, outcome.error);
    });
  }
  if (options.timeout) {
    timer_.emplace(owner_.runtime(), *options.timeout);
    on_timer_ = subscribe(*timer_, [this](Event& timer, const Outcome&) { reach(timer); });
  }
  owner_.set_limit(this);
}

// What starts may fire at once.
void WaitLimit::start() {
  FERMATA_ASSERT(owner_.limit() == this);
  if (timer_) timer_->start();
  if (!token_) return;
  const std::uint32_t round = token_->round();
  token_->start();
  token_round_ = round;
}

WaitLimit::~WaitLimit() {
  FERMATA_ASSERT(owner_.limit() == this);
  FERMATA_ASSERT(outer_ != this);
  if (token_round_ && token_->round() == *token_round_) token_->stop();
  owner_.set_limit(outer_);
  if (due_ && !any_is_due(outer_)) owner_.unset(CoroutineBase::kLimitDue);
}

void WaitLimit::throw_on(const LimitReached& reached) const {
  if (!reached.is_of(*this)) throw;
  FERMATA_ASSERT(error_ != nullptr);
  FERMATA_ASSERT(!due_);
  if (by_token_) {
    OperationCancelled cancelled;
    if (cause_) {
      token_->mark_exception_caught();
      cancelled.set_previous(cause_);
    }
    throw cancelled;
  }
  FERMATA_ASSERT(timer_.has_value());
  std::rethrow_exception(timer_->timeout_error());
}

// Whoever reports its error keeps it until the code has ended.
void WaitLimit::token_fired(Event& token, const std::exception_ptr& error) {
  if (error_ || called_off_ || token.void_as_token()) return;
  by_token_ = true;
  cause_ = error;
  if (error && token.reports_error()) token.mark_exception_owed();
  if (error && !token.reports_error()) token.mark_exception_handled();
  reach(token);
}

void WaitLimit::reach(Event& source) {
  FERMATA_ASSERT(!owner_.is_closed());
  FERMATA_ASSERT(owner_.limit() != nullptr);
  if (error_ || called_off_) return;
  error_ = std::make_exception_ptr(LimitReached(*this));
  due_ = !owner_.runtime().scheduler().interrupt(owner_, source, *this);
}

}  // namespace fermata::detail
