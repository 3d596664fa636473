// SPDX-License-Identifier: Apache-2.0

// The end of a scope: its children end first, then it closes and tells, its finally handlers run,
// and it leaves the tree; then its parent may be next (CORE-SP-10, SP-11).

#include <fmt/format.h>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/context.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/core/scope.hpp"
#include "fermata/core/sweep.hpp"
#include "fermata/core/timer.hpp"

namespace fermata {

void ScopeBase::handle_gone() {
  FERMATA_ASSERT(has_handle_);
  has_handle_ = false;
  const auto self = Ref<ScopeBase>::share(*this);
  try_to_dispose();
  const Cancellation reason("Scope is being disposed due to object destruction");
  cancel_tree(Reasons(std::make_exception_ptr(reason)), own_wave());
}

void ScopeBase::unpin() noexcept {
  FERMATA_ASSERT(pins_ > 0);
  if (--pins_ == 0) try_to_dispose();
}

void ScopeBase::finally(ScopeFinallyHandler handler) {
  if (is_closed()) {
    const detail::NoSuspend guard(runtime());
    handler(*this);
  } else {
    finally_handlers_.push_back(std::move(handler));
  }
}

bool ScopeBase::can_be_disposed() const noexcept {
  if (stage_ != Stage::Open || root_ || pins_ > 0 || sweeps_ > 0 || !is_empty()) return false;
  if (wave_ == Wave::None && has_handle_) return false;
  for (const ScopeBase* each = children_.first(); each != nullptr;
       each = SiblingList::after(*each)) {
    if (!each->can_be_disposed()) return false;
  }
  return true;
}

void ScopeBase::try_to_dispose() noexcept {
  if (can_be_disposed()) begin_disposal();
}

// The stage comes first: the last child to leave asks whether this scope may go on.
void ScopeBase::begin_disposal() noexcept {
  FERMATA_ASSERT(stage_ == Stage::Open);
  const auto self = Ref<ScopeBase>::share(*this);
  stage_ = Stage::Disposing;
  open_ = false;
  for (const auto& child : snapshot_of_children()) {
    if (child->stage_ == Stage::Open) child->begin_disposal();
  }
  advance_disposal();
}

void ScopeBase::advance_disposal() noexcept {
  const auto self = Ref<ScopeBase>::share(*this);
  if (stage_ == Stage::Disposing && children_.empty()) {
    shut_down();
    if (launch_finally()) return;
  }
  if (stage_ == Stage::Closed && children_.empty()) leave_tree();
}

void ScopeBase::shut_down() noexcept {
  FERMATA_ASSERT(stage_ == Stage::Disposing);
  FERMATA_ASSERT(members_.empty());
  FERMATA_ASSERT(children_.empty());
  stage_ = Stage::Closed;
  open_ = false;
  deadline_watch_.cancel();
  deadline_.reset();
  close();
  tell({});
}

// Their scope is a child of this one, which goes on when that is gone.
bool ScopeBase::launch_finally() noexcept {
  FERMATA_ASSERT(stage_ == Stage::Closed);
  detail::Scheduler& scheduler = runtime().scheduler();
  auto handlers = std::exchange(finally_handlers_, {});
  if (handlers.empty() || scheduler.ends_by_force()) return false;
  std::vector<std::function<void()>> actions;
  actions.reserve(handlers.size());
  for (ScopeFinallyHandler& handler : handlers) {
    actions.emplace_back(
        [handler = std::move(handler), scope = Ref<ScopeBase>::share(*this)] { handler(*scope); });
  }
  const std::string label = name_.empty() ? fmt::format("scope {}", id_) : std::string(name());
  detail::Sweep::launch(scheduler, *this, label + ".finally", std::move(actions));
  return true;
}

ScopeBase& ScopeBase::make_cleanup_scope(const std::string& name) {
  auto* scope = new ScopeBase(runtime(), Name(name), this, place_);
  scope->safe_ = true;
  scope->has_handle_ = false;
  scope->for_cleanup_ = true;
  return *scope;
}

void ScopeBase::leave_tree() noexcept {
  FERMATA_ASSERT(is_closed());
  FERMATA_ASSERT(members_.empty());
  FERMATA_ASSERT(children_.empty());
  stage_ = Stage::Gone;
  ScopeBase* const parent = std::exchange(parent_, nullptr);
  if (parent != nullptr) {
    parent->children_.remove(*this);
  } else if (!root_) {
    runtime().scheduler().scopes().detached_.remove(*this);
  }
  request_ = nullptr;
  strategy_ = nullptr;
  on_error_ = nullptr;
  on_child_error_ = nullptr;
  if (auto context = std::exchange(context_, nullptr)) context->scope = nullptr;
  const auto kept = parent != nullptr ? Ref<ScopeBase>::share(*parent) : Ref<ScopeBase>();
  release();  // The tree's reference.
  if (kept) kept->announce();
}

// Without a word to anybody: nothing can run any more.
void ScopeBase::abandon() noexcept {
  if (stage_ == Stage::Gone) return;
  stage_ = Stage::Gone;
  open_ = false;
  while (ScopeBase* child = children_.first()) child->abandon();
  deadline_watch_.cancel();
  deadline_.reset();
  finally_handlers_.clear();
  close();
  leave_tree();
}

}  // namespace fermata
