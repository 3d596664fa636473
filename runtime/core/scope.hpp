// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who owns coroutines. Every coroutine is a member of exactly one scope from its spawn to its end.
// A runtime has one root scope; scopes that users create and nest build on this class.

#include <cstddef>

#include "fermata/runtime/core/coroutine.hpp"

namespace fermata {

class Scope {
 public:
  Scope() = default;
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  [[nodiscard]] std::size_t member_count() const noexcept { return members_.size(); }
  /// Members that are not zombies (CORE-SP-01).
  [[nodiscard]] std::size_t active_count() const noexcept { return active_; }
  [[nodiscard]] std::size_t zombie_count() const noexcept { return members_.size() - active_; }

 private:
  friend class detail::Scheduler;

  void enter(CoroutineBase& coroutine) noexcept {
    members_.push_back(coroutine);
    ++active_;
  }
  void leave(CoroutineBase& coroutine) noexcept {
    members_.remove(coroutine);
    if (!coroutine.is_zombie()) --active_;
  }
  void member_became_zombie() noexcept { --active_; }

  CoroutineBase::ScopeList members_;
  std::size_t active_ = 0;
};

}  // namespace fermata
