// SPDX-License-Identifier: Apache-2.0
#pragma once

// What await and the combinators take: coroutines, futures, and whatever else has an outcome that
// stays.
//
// event()        Completes once and keeps its outcome: it can replay.
// result()       The value; UsageError when there is none (yet). Never suspends.
// take_result()  Optional: the value for a caller who keeps no handle; it may be moved out.

#include <concepts>
#include <type_traits>
#include <utility>

#include "fermata/core/event.hpp"

namespace fermata {

template <class A>
concept Awaitable = requires(const A& awaitable) {
  { awaitable.event() } -> std::convertible_to<Event&>;
  awaitable.result();
};

/// The result type of awaiting: void, or the type of the value.
template <Awaitable A>
using AwaitedValue = std::remove_cvref_t<decltype(std::declval<const A&>().result())>;

namespace detail {

/// Null for a handle that refers to nothing.
template <Awaitable A>
Event* event_of(const A& item) {
  if constexpr (std::is_constructible_v<bool, const A&>) {
    if (!static_cast<bool>(item)) return nullptr;
  }
  return &item.event();
}

/// The result for a caller who keeps no handle.
template <Awaitable A>
AwaitedValue<A> take_result_of(const A& awaitable) {
  if constexpr (requires { awaitable.take_result(); }) {
    return awaitable.take_result();
  } else {
    return awaitable.result();
  }
}

}  // namespace detail
}  // namespace fermata
