// SPDX-License-Identifier: Apache-2.0
#pragma once

// map, catch_error and finally: handlers that wait for a future, and the coroutine that runs them.
//
// Walk    The handlers of one resolution run in one coroutine for each scope that they were
//         registered in, breadth-first through the tree of futures, siblings in the order of their
//         registration (FUT-06, FUT-14). One that suspends suspends its walk.
// Ends    Each handler settles its child exactly once. When the scope, or the run, is over before a
//         handler has run, it does not run, and its child fails with a Cancellation.

#include <cstdint>
#include <exception>
#include <utility>

#include "fermata/base/source_place.hpp"
#include "fermata/core/scope.hpp"

namespace fermata::detail {

class ChainWalk;
class FutureBase;

/// One handler with the future that it makes.
class ChainLink {
 public:
  enum class Kind : std::uint8_t { Map, Catch, Finally };

  ChainLink(const ChainLink&) = delete;
  ChainLink& operator=(const ChainLink&) = delete;

  /// Runs the handler, if it is one for such an outcome, and settles the child. Throws ForcedUnwind
  /// only; then the child is not settled.
  void run(ChainWalk& walk);
  /// Settles the child without running the handler.
  void reject(const std::exception_ptr& error, ChainWalk& walk) noexcept;
  virtual void destroy() noexcept = 0;
  [[nodiscard]] virtual FutureBase& child() const noexcept = 0;

 protected:
  ChainLink(Kind kind, const SourcePlace& place) noexcept : place_(place), kind_(kind) {}
  ~ChainLink();

  /// Calls the handler with what `source` ended with. Returns the value it made, which the child
  /// keeps; null when there is none.
  virtual void* call(FutureBase& source) = 0;

 private:
  friend class ChainLinks;
  friend class ChainWalk;
  friend class FutureBase;

  [[nodiscard]] bool is_for(const std::exception_ptr& error) const noexcept;
  void handle(ChainWalk& walk);
  void settle_failed(std::exception_ptr thrown, ChainWalk& walk);

  ChainLink* next_ = nullptr;
  Ref<FutureBase> source_;  // From its resolution on.
  Ref<ScopeBase> scope_;
  SourcePlace place_;
  Kind kind_;
};

/// Links in the order of their registration.
class ChainLinks {
 public:
  ChainLinks() = default;
  ChainLinks(ChainLinks&& other) noexcept
      : first_(std::exchange(other.first_, nullptr)), last_(std::exchange(other.last_, nullptr)) {}
  ChainLinks& operator=(ChainLinks&&) = delete;

  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  [[nodiscard]] ChainLink* first() const noexcept { return first_; }
  void push_back(ChainLink& link) noexcept;
  /// Null when there is none.
  ChainLink* pop_front() noexcept;

 private:
  ChainLink* first_ = nullptr;
  ChainLink* last_ = nullptr;
};

/// The handlers of one resolution in one scope, and the body of the coroutine that runs them.
class ChainWalk {
 public:
  /// Sees to it that `links`, whose sources have ended, run: those of the scope of `walk`, if there
  /// is one, in it, the others in coroutines of their own.
  static void start(ChainLinks links, ChainWalk* walk) noexcept;

  ChainWalk(ChainWalk&&) noexcept = default;
  ChainWalk& operator=(ChainWalk&&) = delete;
  /// Rejects whatever has not run.
  ~ChainWalk();

  void operator()();

 private:
  explicit ChainWalk(ScopeBase& scope) noexcept : scope_(Ref<ScopeBase>::share(scope)) {}
  void spawn();

  ChainLinks links_;
  Ref<ScopeBase> scope_;
};

}  // namespace fermata::detail
