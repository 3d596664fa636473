// SPDX-License-Identifier: Apache-2.0

// The tree of scopes, and when each is idle and empty.

#include "fermata/core/scope.hpp"

#include <fmt/format.h>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/timer.hpp"

namespace fermata {

ScopeBase& current_scope() { return current_runtime().scheduler().current_scope(); }

Scope::Scope(Name name, const SourcePlace& place) : Scope(inherit(std::move(name), place)) {
  set_started_members(StartedMembers::Cancel);
}

Scope Scope::detached(Name name, const SourcePlace& place) {
  return Scope(ScopeBase::create(current_runtime(), std::move(name), nullptr, place), false);
}

Scope Scope::inherit(Name name, const SourcePlace& place) {
  return inherit(std::move(name), current_scope(), place);
}

Scope Scope::inherit(Name name, ScopeBase& parent, const SourcePlace& place) {
  return Scope(ScopeBase::create(parent.runtime(), std::move(name), &parent, place), true);
}

ScopeBase::ScopeBase(Runtime& runtime, Name&& name, ScopeBase* parent, const SourcePlace& place)
    : Event(runtime, backend::EventKind::Scope),
      parent_(parent),
      id_(runtime.scheduler().scopes().next_id_++),
      name_(std::move(name)),
      place_(place) {
  if (parent == nullptr) return;
  FERMATA_ASSERT(&parent->runtime() == &runtime);
  safe_ = parent->safe_;
  request_ = parent->request_;
  parent->children_.push_back(*this);
}

ScopeBase::~ScopeBase() {
  FERMATA_ASSERT(members_.empty());
  FERMATA_ASSERT(children_.empty());
  FERMATA_ASSERT(stage_ == Stage::Gone);
}

Ref<ScopeBase> ScopeBase::create(Runtime& runtime, Name&& name, ScopeBase* parent,
                                 const SourcePlace& place) {
  if (parent == nullptr) {
    FERMATA_REQUIRE(runtime.is_running(), "Scope: the runtime is not running");
  } else if (parent->stage_ != Stage::Open || parent->wave_ == Wave::Hard) {
    // What runs on in a safely cancelled scope may still divide its work.
    parent->refuse("Scope::inherit");
  }
  auto* scope = new ScopeBase(runtime, std::move(name), parent, place);
  if (parent == nullptr) runtime.scheduler().scopes().detached_.push_back(*scope);
  return Ref<ScopeBase>::share(*scope);  // The first reference is the tree's.
}

std::string ScopeBase::info() const {
  std::string text = fmt::format("Scope #{}", id_);
  if (!name_.empty()) text += fmt::format(" '{}'", name_.view());
  return text + fmt::format(" created at {}:{}", place_.file, place_.line);
}

void ScopeBase::explain_wait(backend::WaitFacts& facts, const CoroutineBase&) const {
  facts.is("scope", name(), &place_);
  for (const CoroutineBase* each = first_member(); each != nullptr;
       each = CoroutineBase::ScopeList::after(*each)) {
    facts.needs(*each);
  }
  for (const ScopeBase* each = first_child(); each != nullptr; each = each->next_sibling()) {
    if (!each->is_empty()) facts.needs(*each);
  }
}

bool ScopeBase::contains(const ScopeBase& other) const noexcept {
  const ScopeBase* each = &other;
  while (each != nullptr && each != this) each = each->parent_;
  return each == this;
}

std::vector<ScopeBase*> ScopeBase::child_scopes() const {
  std::vector<ScopeBase*> children;
  children.reserve(children_.size());
  for (ScopeBase* each = children_.first(); each != nullptr; each = SiblingList::after(*each)) {
    children.push_back(each);
  }
  return children;
}

std::vector<Ref<ScopeBase>> ScopeBase::snapshot_of_children() const {
  std::vector<Ref<ScopeBase>> children;
  children.reserve(children_.size());
  for (ScopeBase* each = children_.first(); each != nullptr; each = SiblingList::after(*each)) {
    children.push_back(Ref<ScopeBase>::share(*each));
  }
  return children;
}

const Outcome* ScopeBase::replay() const noexcept {
  static const auto* const finished = new Outcome;
  return is_closed() ? finished : nullptr;
}

const char* ScopeBase::condition() const noexcept {
  if (is_closed()) return "closed";
  return stage_ == Stage::Disposing ? "being disposed" : "cancelled";
}

void ScopeBase::refuse(const char* operation) const {
  throw UsageError(
      fmt::format("{}: {} is {}: expected an open scope", operation, info(), condition()));
}

// --- completion ---

// Brings busy_ and live_ up to date, and with them the parent's counts. False: nothing changed.
bool ScopeBase::refresh() noexcept {
  const bool busy = active_count() + busy_children_ > 0;
  const bool live = members_.size() + live_children_ > 0;
  FERMATA_ASSERT(zombies_ <= members_.size());
  FERMATA_ASSERT(live || !busy);
  if (busy == busy_ && live == live_) return false;
  if (parent_ != nullptr) {
    parent_->busy_children_ += static_cast<std::size_t>(busy) - static_cast<std::size_t>(busy_);
    parent_->live_children_ += static_cast<std::size_t>(live) - static_cast<std::size_t>(live_);
    FERMATA_ASSERT(parent_->busy_children_ <= parent_->live_children_);
    FERMATA_ASSERT(parent_->live_children_ <= parent_->children_.size());
  }
  has_news_ = (busy_ && !busy) || (live_ && !live);
  busy_ = busy;
  live_ = live;
  return true;
}

// All counts are right before anybody is told, from the bottom up: subscribers look around.
void ScopeBase::load_changed() noexcept {
  for (ScopeBase* each = this; each != nullptr && each->refresh();) each = each->parent_;
  if (has_news_) announce();
}

// May be the end of this scope and of its parent.
void ScopeBase::announce() noexcept {
  const auto self = Ref<ScopeBase>::share(*this);
  const auto parent = parent_ != nullptr ? Ref<ScopeBase>::share(*parent_) : Ref<ScopeBase>();
  if (std::exchange(has_news_, false) && !busy_) tell({});
  if (stage_ == Stage::Open) {
    try_to_dispose();
  } else {
    advance_disposal();
  }
  if (parent && parent->has_news_) parent->announce();
}

// Whether somebody took the error.
bool ScopeBase::tell(const Outcome& outcome) noexcept {
  if (!has_listeners()) return false;
  try {
    return notify(outcome);
  } catch (...) {
    runtime().report_unhandled(std::current_exception());
    return exception_handled();
  }
}

// --- all of them ---

void detail::ScopeForest::plant(Runtime& runtime) {
  FERMATA_ASSERT(root_.get() == nullptr);
  FERMATA_ASSERT(detached_.empty());
  root_ = Ref<ScopeBase>::adopt(*new ScopeBase(runtime, "root", nullptr, SourcePlace::current()));
  root_->add_ref();  // The tree's.
  root_->root_ = true;
  root_->safe_ = true;
}

void detail::ScopeForest::close_all() noexcept {
  FERMATA_ASSERT(root_.get() != nullptr);
  std::vector<Ref<ScopeBase>> open;
  for (auto* each = detached_.first(); each != nullptr; each = detached_.after(*each)) {
    if (each->stage_ == ScopeBase::Stage::Open) open.push_back(Ref<ScopeBase>::share(*each));
  }
  for (const auto& scope : open) {  // The end of one may be that of another.
    if (scope->stage_ == ScopeBase::Stage::Open) scope->begin_disposal();
  }
  if (detached_.empty() && root_->stage_ == ScopeBase::Stage::Open) root_->begin_disposal();
}

void detail::ScopeForest::fell() noexcept {
  while (ScopeBase* each = detached_.first()) each->abandon();
  root_->abandon();
  FERMATA_ASSERT(root_->stage_ == ScopeBase::Stage::Gone);
  root_.reset();
}

}  // namespace fermata
