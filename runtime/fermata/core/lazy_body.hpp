// SPDX-License-Identifier: Apache-2.0
#pragma once

// Bodies that return work instead of doing it: functions that return a fermata::Task, and a Task
// itself. Whoever takes a body does that work too.

#include <concepts>
#include <type_traits>
#include <utility>

#include "fermata/base/assert.hpp"

namespace fermata::detail {

/// Does nothing until it is called, which can be done once: while it converts to true. Such a type
/// has the member type `RunsWhenCalled`.
template <class X>
concept Lazy = requires {
  typename std::remove_cvref_t<X>::RunsWhenCalled;
};

/// A body that returns something lazy.
template <class F>
concept ReturnsLazy = std::is_invocable_v<F&> && Lazy<std::invoke_result_t<F&>>;

/// Calls `body`, and what it returns when that is lazy.
template <class F>
decltype(auto) run_body(F& body) {
  if constexpr (ReturnsLazy<F>) {
    return body()();
  } else {
    return body();
  }
}

/// Throws UsageError when `body` can no longer be called.
template <class F>
void require_spawnable([[maybe_unused]] const F& body) {
  if constexpr (Lazy<F>) {
    FERMATA_REQUIRE(static_cast<bool>(body),
                    "spawn: an empty Task: expected one that was not awaited, spawned or moved "
                    "from before");
  }
}

/// A body that returns something lazy, with the call of that.
template <class F>
struct LazyBody {
  F body;
  decltype(auto) operator()() { return run_body(body); }
};

}  // namespace fermata::detail
