// SPDX-License-Identifier: Apache-2.0
#pragma once

// Waiting for one awaitable and taking its result (CORE-AW-06).

#include <type_traits>
#include <utility>

#include "fermata/base/inlining.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sync/awaitable.hpp"

namespace fermata {

/// The result of `awaitable`, at once when it is there (CORE-CO-09, FUT-04). Throws its error,
/// which then counts as handled; Cancellation when the caller is cancelled meanwhile;
/// OperationCancelled and Timeout as `options` say. May suspend. The result stays where it is, for
/// as long as a handle lives.
template <Awaitable A>
FERMATA_HOT decltype(auto) await(const A& awaitable, const WaitOptions& options = {},
                                 SourcePlace place = SourcePlace::current()) {
  wait(awaitable.event(), options, place);
  return awaitable.result();
}

/// Awaits a handle that nobody keeps: the result is moved to the caller.
template <Awaitable A>
requires(!std::is_reference_v<A> && !std::is_const_v<A>) FERMATA_HOT AwaitedValue<A> await(
    A&& awaitable, const WaitOptions& options = {}, SourcePlace place = SourcePlace::current()) {
  const A kept = std::move(awaitable);
  wait(kept.event(), options, place);
  return detail::take_result_of(kept);
}

}  // namespace fermata
