// SPDX-License-Identifier: Apache-2.0

// The way up of an error that nobody awaited (CORE-SP-08, SP-09).

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/core/scope.hpp"

namespace fermata {

// Returns what is left when nobody took it, or null. `failed` is still a member of its scope: none
// of those on the way can be disposed.
std::exception_ptr ScopeBase::route(CoroutineBase& failed, std::exception_ptr error) {
  FERMATA_ASSERT(error != nullptr);
  ScopeBase* from = nullptr;
  for (ScopeBase* scope = &failed.scope(); scope != nullptr; scope = scope->parent_) {
    error = scope->offer(from, failed, std::move(error));
    if (!error) return nullptr;
    scope->fail(error);
    if (scope->tell({nullptr, error})) return nullptr;
    from = scope;
  }
  return error;
}

// Returns what the next one up is given: null when the handler took it.
std::exception_ptr ScopeBase::offer(ScopeBase* from, CoroutineBase& failed,
                                    std::exception_ptr error) {
  FERMATA_ASSERT(error != nullptr);
  FERMATA_ASSERT(from == nullptr || from->parent_ == this);
  const bool from_child = from != nullptr && on_child_error_;
  const ScopeErrorHandler handler =
      from_child ? on_child_error_ : on_error_;  // It may be replaced.
  if (!handler) return error;
  const detail::NoSuspend guard(runtime());
  try {
    handler(from_child ? *from : *this, failed, error);
    return nullptr;
  } catch (...) {
    const std::exception_ptr thrown = std::current_exception();
    return is_cancellation(thrown) ? link_previous(error, thrown) : link_previous(thrown, error);
  }
}

// Each scope by its own flag, whatever the one below it was (BUG-37).
void ScopeBase::fail(const std::exception_ptr& error) {
  FERMATA_ASSERT(error != nullptr);
  if (root_ || !is_news(own_wave())) return;
  strike(Reasons(Cancellation("Scope was cancelled").with_previous(error)),
         Cancellation("Coroutine cancelled").with_previous(error), own_wave());
}

}  // namespace fermata
