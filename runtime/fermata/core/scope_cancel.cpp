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

ScopeBase& ScopeBase::allow_zombies() noexcept {
  safe_ = true;
  return *this;
}

ScopeBase& ScopeBase::cancel_running_members() noexcept {
  safe_ = root_;
  return *this;
}

void ScopeBase::cancel(std::exception_ptr reason) {
  cancel_with("cancel", std::move(reason), own_wave());
}

void ScopeBase::cancel_hard(std::exception_ptr reason) {
  cancel_with("cancel_hard", std::move(reason), Wave::Hard);
}

void ScopeBase::dispose_safely() { cancel_with("dispose_safely", nullptr, Wave::Safe); }

void ScopeBase::dispose_after_timeout(Duration span) {
  require_cancellable("dispose_after_timeout", nullptr);
  if (span < Duration::zero()) {
    throw UsageError(fmt::format("dispose_after_timeout of {} ns for {}: expected zero or more",
                                 span.count(), info()));
  }
  if (is_closed() || is_empty()) return;
  deadline_watch_.cancel();
  deadline_ = make_timer(runtime(), span);
  deadline_watch_ = subscribe(*deadline_, [this](Event&, const Outcome&) {
    cancel(std::make_exception_ptr(Cancellation("Scope has been disposed due to timeout")));
  });
  deadline_->start();
}

void ScopeBase::require_cancellable(const char* operation, const std::exception_ptr& reason) const {
  if (root_) {
    throw UsageError(
        fmt::format("{}: {} ends with its runtime: expected shutdown()", operation, info()));
  }
  if (reason && !is_cancellation(reason)) {
    throw UsageError(fmt::format("{}: {} was given '{}' as the reason: expected a Cancellation",
                                 operation, info(), message_of(reason)));
  }
}

void ScopeBase::cancel_with(const char* operation, std::exception_ptr reason, Wave wave) {
  require_cancellable(operation, reason);
  if (!reason) reason = std::make_exception_ptr(Cancellation("Scope was cancelled"));
  FERMATA_ASSERT(wave != Wave::None);
  cancel_tree(reason, wave);
}

void ScopeBase::cancel_tree(const std::exception_ptr& reason, Wave wave) {
  if (!is_news(wave)) return;
  const auto self = Ref<ScopeBase>::share(*this);
  const bool first = wave_ == Wave::None;
  strike(reason, reason, wave);
  if (first && !is_empty()) tell({nullptr, reason});
  try_to_dispose();
}

// Whatever empties meanwhile, this scope is not disposed before its sweep is over.
void ScopeBase::strike(const std::exception_ptr& for_children,
                       const std::exception_ptr& for_members, Wave wave) {
  FERMATA_ASSERT(!root_);
  FERMATA_ASSERT(is_news(wave));
  FERMATA_ASSERT(for_children != nullptr);
  FERMATA_ASSERT(for_members != nullptr);
  open_ = false;
  wave_ = wave;
  if (!reason_) reason_ = for_children;
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
