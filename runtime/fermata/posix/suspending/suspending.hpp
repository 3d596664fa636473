// SPDX-License-Identifier: Apache-2.0
#pragma once

// Blocking libraries that were not written for Fermata, in coroutines of a real program.
//
// Scope      Inside of suspending(), calls of the C library that wait suspend the coroutine and not
//            the thread: of sockets, pipes and polls, sleeps, getaddrinfo. Every other call is the
//            system's. The scope belongs to the coroutine: what runs meanwhile is outside of it.
// Needs      A program that links fermata::posix, which defines these functions anew.
// Looks      Descriptors that are made inside do not block underneath, and look to everybody as if
//            they do. Those made outside are polled, and never changed.
// Cancelled  The call that waits fails with EINTR, later ones that have to wait with ECANCELED. The
//            function comes back by itself: nothing is thrown through it. Then suspending() throws
//            the Cancellation.
// Simulated  Foreign code is served there anyway, and suspending() only calls its function.

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "fermata/base/function_ref.hpp"
#include "fermata/base/source_place.hpp"

namespace fermata::posix {

namespace detail {
void run_suspending(fermata::detail::FunctionRef<void()> function, const SourcePlace& place);
}  // namespace detail

/// Calls `function` and returns what it returns: calls of the C library in it suspend the current
/// coroutine instead of blocking the thread. Scopes inside of a scope are one with it.
///
/// Throws UsageError outside of a coroutine, in a callback and in a program without fermata::posix;
/// Cancellation when the coroutine was cancelled inside; else what `function` throws. A function
/// that makes 10,000 calls that have to wait after it was cancelled is left by a UsageError.
template <class F>
std::invoke_result_t<F&> suspending(F&& function, SourcePlace place = SourcePlace::current()) {
  using Result = std::invoke_result_t<F&>;
  if constexpr (std::is_void_v<Result>) {
    detail::run_suspending([&] { function(); }, place);
  } else if constexpr (std::is_reference_v<Result>) {
    std::remove_reference_t<Result>* result = nullptr;
    detail::run_suspending([&] { result = std::addressof(function()); }, place);
    return static_cast<Result>(*result);
  } else {
    std::optional<Result> result;
    detail::run_suspending([&] { result.emplace(function()); }, place);
    return std::move(*result);
  }
}

}  // namespace fermata::posix
