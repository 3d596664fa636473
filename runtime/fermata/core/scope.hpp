// SPDX-License-Identifier: Apache-2.0
#pragma once

// A scope as users hold it. What the operations do is said at ScopeBase.
//
//   Scope workers("workers");                 // a child of the caller's scope
//   workers.spawn("one", [&] { ... });        // may use what lives longer than `workers`
//   workers.await_completion();
//
// The end of the handle is the end of the scope. An empty one closes. Another is cancelled, as it
// was set, and its destructor suspends until no member is left, so that members may use whatever
// lives longer than the handle. To let them finish, call await_completion() before. No cancellation
// reaches the destructor: members that a cancellation does not end are waited for.
//
// A destructor cannot wait inside of the scope itself, in a callback, or outside of coroutines,
// which is where the body of a coroutine is destroyed. Then the members run on to their end, and
// when there are some a line in the log says so. Scope::detached makes a scope whose destructor
// does not wait anywhere.

#include <type_traits>
#include <utility>
#include <vector>

#include "fermata/core/context.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/core/scope_base.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"

namespace fermata {

/// The scope of the current coroutine; the root scope outside of any coroutine.
[[nodiscard]] ScopeBase& current_scope();

class Scope {
 public:
  /// Makes a child of the current scope that is not safe. Throws UsageError when the current scope
  /// takes no more.
  [[nodiscard]] explicit Scope(Name name = {}, const SourcePlace& place = SourcePlace::current());

  /// Makes a child of `parent`, by default the current scope, that is as safe as its parent. Throws
  /// UsageError when the parent takes no more.
  [[nodiscard]] static Scope inherit(Name name = {},
                                     const SourcePlace& place = SourcePlace::current());
  [[nodiscard]] static Scope inherit(Name name, ScopeBase& parent,
                                     const SourcePlace& place = SourcePlace::current());
  [[nodiscard]] static Scope inherit(Name name, const Scope& parent,
                                     const SourcePlace& place = SourcePlace::current()) {
    return inherit(std::move(name), *parent, place);
  }

  /// Makes a scope without a parent that is not safe, and whose destructor does not wait: members
  /// may outlive it, and must not use the locals of its owner.
  [[nodiscard]] static Scope detached(Name name = {},
                                      const SourcePlace& place = SourcePlace::current());

  Scope(Scope&& other) noexcept = default;
  Scope& operator=(Scope&& other) noexcept {
    std::swap(scope_, other.scope_);
    std::swap(joins_, other.joins_);
    return *this;
  }
  /// Cancels the scope and, unless it is detached, suspends until no member is left.
  ~Scope() {
    if (!scope_) return;
    scope_->handle_gone();
    if (joins_) scope_->join(scope_->created_at());
  }

  /// The scope. Throws UsageError when the handle has been moved from.
  [[nodiscard]] ScopeBase& operator*() const {
    FERMATA_REQUIRE(scope_, "Scope: expected a handle that has not been moved from");
    return *scope_;
  }
  [[nodiscard]] ScopeBase* operator->() const { return &**this; }
  explicit operator bool() const noexcept { return static_cast<bool>(scope_); }

  /// Spawns into this scope. Throws UsageError when it takes no more (CORE-SP-07).
  template <class F>
  auto spawn(Name&& name, F&& body, const SourcePlace& place = SourcePlace::current()) const {
    ScopeBase& scope = **this;
    return detail::spawn_in(scope.runtime(), std::move(name), place, Priority::Normal, &scope,
                            std::forward<F>(body));
  }
  template <class F>
  requires(std::is_invocable_v<std::decay_t<F>&>) auto spawn(
      F&& body, const SourcePlace& place = SourcePlace::current()) const {
    return spawn(Name(), std::forward<F>(body), place);
  }

  Scope& set_started_members(StartedMembers started) {
    (*this)->set_started_members(started);
    return *this;
  }
  void cancel(const ScopeCancelOptions& options = {}) const { (*this)->cancel(options); }

  void set_spawn_strategy(std::shared_ptr<backend::SpawnStrategy> strategy) const {
    (*this)->set_spawn_strategy(std::move(strategy));
  }
  void set_exception_handler(ScopeErrorHandler handler) const {
    (*this)->set_exception_handler(std::move(handler));
  }
  void set_child_exception_handler(ScopeErrorHandler handler) const {
    (*this)->set_child_exception_handler(std::move(handler));
  }
  void finally(ScopeFinallyHandler handler) const { (*this)->finally(std::move(handler)); }

  /// Suspends.
  void await_completion(const WaitOptions& options = {},
                        SourcePlace place = SourcePlace::current()) const {
    (*this)->await_completion(options, place);
  }
  /// Suspends.
  void await_after_cancellation(const CleanupErrorHandler& handler = nullptr,
                                const WaitOptions& options = {},
                                SourcePlace place = SourcePlace::current()) const {
    (*this)->await_after_cancellation(handler, options, place);
  }

  [[nodiscard]] Context context() const { return (*this)->context(); }
  [[nodiscard]] std::vector<ScopeBase*> child_scopes() const { return (*this)->child_scopes(); }
  [[nodiscard]] bool is_finished() const { return (*this)->is_finished(); }
  [[nodiscard]] bool is_closed() const { return (*this)->is_closed(); }
  [[nodiscard]] bool is_cancelled() const { return (*this)->is_cancelled(); }
  [[nodiscard]] std::string info() const { return (*this)->info(); }

 private:
  Scope(Ref<ScopeBase> scope, bool joins) noexcept : scope_(std::move(scope)), joins_(joins) {}

  Ref<ScopeBase> scope_;
  bool joins_ = true;
};

}  // namespace fermata
