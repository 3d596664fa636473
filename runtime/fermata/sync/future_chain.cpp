// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/future_chain.hpp"

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sync/future_base.hpp"

namespace fermata::detail {

ChainLink::~ChainLink() = default;

bool ChainLink::is_for(const std::exception_ptr& error) const noexcept {
  return kind_ == Kind::Finally || (kind_ == Kind::Catch) == (error != nullptr);
}

void ChainLink::run(ChainWalk& walk) {
  FERMATA_ASSERT(source_->is_completed());
  if (is_for(source_->outcome().error)) {
    handle(walk);
  } else {
    child().inherit(*source_, place_, &walk);
  }
}

void ChainLink::handle(ChainWalk& walk) {
  FERMATA_ASSERT(is_for(source_->outcome().error));
  if (kind_ == Kind::Catch) source_->mark_exception_caught();
  void* value = nullptr;
  try {
    value = call(*source_);
  } catch (const ForcedUnwind&) {
    throw;
  } catch (...) {
    return settle_failed(std::current_exception(), walk);
  }
  if (kind_ == Kind::Finally) {
    child().inherit(*source_, place_, &walk);
  } else {
    child().settle({value, nullptr}, place_, &walk);
  }
}

// What a clean-up threw stands before what it cleaned up after, and answers for it (FUT-07).
void ChainLink::settle_failed(std::exception_ptr thrown, ChainWalk& walk) {
  FERMATA_ASSERT(thrown != nullptr);
  const std::exception_ptr& error = source_->outcome().error;
  if (kind_ == Kind::Finally && error) {
    child().answer_for(*source_);
    thrown = link_previous(std::move(thrown), error);
  }
  child().settle({nullptr, std::move(thrown)}, place_, &walk);
}

void ChainLink::reject(const std::exception_ptr& error, ChainWalk& walk) noexcept {
  FERMATA_ASSERT(error != nullptr);
  child().settle({nullptr, error}, place_, &walk);
}

void ChainLinks::push_back(ChainLink& link) noexcept {
  FERMATA_ASSERT(link.next_ == nullptr);
  (first_ != nullptr ? last_->next_ : first_) = &link;
  last_ = &link;
}

ChainLink* ChainLinks::pop_front() noexcept {
  ChainLink* const link = first_;
  if (link != nullptr) first_ = std::exchange(link->next_, nullptr);
  return link;
}

void ChainWalk::start(ChainLinks links, ChainWalk* walk) noexcept {
  while (!links.empty()) {
    ScopeBase& scope = *links.first()->scope_;
    ChainWalk own(scope);
    ChainLinks& mine = walk != nullptr && walk->scope_.get() == &scope ? walk->links_ : own.links_;
    ChainLinks others;
    while (ChainLink* link = links.pop_front()) {
      (link->scope_.get() == &scope ? mine : others).push_back(*link);
    }
    if (!own.links_.empty()) own.spawn();
    while (ChainLink* link = others.pop_front()) links.push_back(*link);
  }
}

// When a coroutine can no longer be spawned, the walk ends here.
void ChainWalk::spawn() {
  FERMATA_ASSERT(!links_.empty());
  const ChainLink& first = *links_.first();
  Runtime& runtime = first.child().runtime();
  const SourcePlace place = first.place_;
  if (!runtime.is_running()) return;
  ScopeBase* const scope = scope_.get();
  try {
    spawn_in(runtime, Name("future chain"), place, Priority::Normal, scope, std::move(*this));
  } catch (const Error&) {
  }
}

void ChainWalk::operator()() {
  const CoroutineBase& me = current_coroutine();
  while (ChainLink* link = links_.first()) {
    if (!scope_->is_open() || me.is_cancellation_requested()) return;
    link->run(*this);
    FERMATA_ASSERT(links_.first() == link);
    links_.pop_front();
    link->destroy();
  }
}

ChainWalk::~ChainWalk() {
  if (links_.empty()) return;
  std::exception_ptr error = scope_->reason();
  if (!error) {
    error = std::make_exception_ptr(
        Cancellation("The scope of a future's handler has ended before the handler ran"));
  }
  while (ChainLink* link = links_.pop_front()) {
    link->reject(error, *this);
    link->destroy();
  }
}

}  // namespace fermata::detail
