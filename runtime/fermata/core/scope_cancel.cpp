// SPDX-License-Identifier: Apache-2.0

// Cancelling a scope. A sweep walks a snapshot and holds what it walks: telling those who wait runs
// code of theirs, which may change the tree (BUG-19).

#include <fmt/format.h>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/core/scope.hpp"
#include "fermata/core/timer.hpp"

namespace fermata {

namespace {

std::exception_ptr make_reason(const char* what) {
  return std::make_exception_ptr(Cancellation(what));
}

}  // namespace

ScopeBase& ScopeBase::set_started_members(StartedMembers started) noexcept {
  safe_ = root_ || started == StartedMembers::LetRun;
  return *this;
}

void ScopeBase::cancel(const ScopeCancelOptions& options) {
  const Reasons reasons = checked_reasons(options);
  if (options.after > Duration::zero()) return cancel_later(options);
  cancel_tree(reasons, wave_of(options.started.value_or(started_members())));
}

void ScopeBase::cancel_later(const ScopeCancelOptions& options) {
  FERMATA_ASSERT(options.after > Duration::zero());
  if (is_closed() || is_empty()) return;
  deadline_watch_.cancel();
  deadline_ = make_timer(runtime(), options.after);
  deadline_watch_ = subscribe(*deadline_, [this, reason = options.reason,
                                           started = options.started](Event&, const Outcome&) {
    cancel({.reason = reason ? reason : make_reason("Scope has been disposed due to timeout"),
            .started = started});
  });
  deadline_->start();
}

// Whatever kind a reason has is asked once, however many members there are.
ScopeBase::Reasons ScopeBase::checked_reasons(const ScopeCancelOptions& options) const {
  if (root_) {
    throw UsageError(fmt::format("cancel: {} ends with its runtime: expected shutdown()", info()));
  }
  if (options.after < Duration::zero()) {
    throw UsageError(fmt::format("cancel: after {} ns for {}: expected zero or more",
                                 options.after.count(), info()));
  }
  if (!options.reason) return Reasons(make_reason("Scope was cancelled"));
  Reasons reasons(options.reason, detail::as_own_cancellation(options.reason));
  if (!reasons.for_members) {
    throw UsageError(fmt::format("cancel: {} was given '{}' as the reason: expected a Cancellation",
                                 info(), message_of(options.reason)));
  }
  return reasons;
}

void ScopeBase::cancel_tree(const Reasons& reasons, Wave wave) {
  if (!is_news(wave)) return;
  const auto self = Ref<ScopeBase>::share(*this);
  const bool first = wave_ == Wave::None;
  strike(reasons, reasons.for_members, wave);
  if (first && !is_empty()) tell({nullptr, reasons.told});
  try_to_dispose();
}

// Whatever empties meanwhile, this scope is not disposed before its sweep is over.
void ScopeBase::strike(const Reasons& for_children, const std::exception_ptr& for_members,
                       Wave wave) {
  FERMATA_ASSERT(!root_);
  FERMATA_ASSERT(is_news(wave));
  FERMATA_ASSERT(for_children.told != nullptr);
  FERMATA_ASSERT(for_children.for_members != nullptr);
  FERMATA_ASSERT(for_members != nullptr);
  open_ = false;
  wave_ = wave;
  if (!reason_) reason_ = for_children.told;
  ++sweeps_;
  for (const auto& child : snapshot_of_children()) child->cancel_tree(for_children, wave);
  std::vector<Ref<CoroutineBase>> members;
  members.reserve(members_.size());
  for (CoroutineBase* each = members_.first(); each != nullptr;
       each = CoroutineBase::ScopeList::after(*each)) {
    members.push_back(Ref<CoroutineBase>::share(*each));
  }
  detail::Scheduler& scheduler = runtime().scheduler();
  for (const auto& member : members) {
    scheduler.cancel_member(*member, for_members, wave == Wave::Safe);
  }
  FERMATA_ASSERT(wave_ >= wave);
  FERMATA_ASSERT(sweeps_ > 0);
  --sweeps_;
}

}  // namespace fermata
