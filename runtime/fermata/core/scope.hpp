// SPDX-License-Identifier: Apache-2.0
#pragma once

// A scope as users hold it. What the operations do is said at ScopeBase.
//
//   Scope workers("workers");                 // detached: not safe, no parent
//   workers.spawn("one", [] { ... });
//   workers.await_completion();
//   auto part = Scope::inherit("part");       // a child of the caller's scope, as safe as that
//
// The end of the handle is the end of the scope: an empty one closes, another is cancelled as its
// flag says. A destructor never suspends: to wait for the members, await before.

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
  /// Makes a detached scope, which has no parent and is not safe.
  explicit Scope(Name name = {}, const SourcePlace& place = SourcePlace::current());

  /// Makes a child of the current scope, as safe as its parent. Throws UsageError when the parent
  /// takes no more.
  [[nodiscard]] static Scope inherit(Name name = {},
                                     const SourcePlace& place = SourcePlace::current());
  [[nodiscard]] static Scope inherit(Name name, ScopeBase& parent,
                                     const SourcePlace& place = SourcePlace::current());
  [[nodiscard]] static Scope inherit(Name name, const Scope& parent,
                                     const SourcePlace& place = SourcePlace::current()) {
    return inherit(std::move(name), *parent, place);
  }

  Scope(Scope&& other) noexcept = default;
  Scope& operator=(Scope&& other) noexcept {
    std::swap(scope_, other.scope_);
    return *this;
  }
  ~Scope() {
    if (scope_) scope_->handle_gone();
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

  Scope& allow_zombies() {
    (*this)->allow_zombies();
    return *this;
  }
  Scope& cancel_running_members() {
    (*this)->cancel_running_members();
    return *this;
  }

  void cancel(std::exception_ptr reason = nullptr) const { (*this)->cancel(std::move(reason)); }
  void cancel_hard(std::exception_ptr reason = nullptr) const {
    (*this)->cancel_hard(std::move(reason));
  }
  /// Cancels the scope, like cancel().
  void dispose() const { (*this)->cancel(); }
  void dispose_safely() const { (*this)->dispose_safely(); }
  void dispose_after_timeout(Duration span) const { (*this)->dispose_after_timeout(span); }

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
  explicit Scope(Ref<ScopeBase> scope) noexcept : scope_(std::move(scope)) {}

  Ref<ScopeBase> scope_;
};

}  // namespace fermata
