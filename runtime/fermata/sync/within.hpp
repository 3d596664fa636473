// SPDX-License-Identifier: Apache-2.0
#pragma once

// A timeout or a token for a piece of code, however often it waits.
//
//   auto page = within({.timeout = 2s}, [&] { return fetch(url); });
//
// End           When the time has passed or the token fires, the wait that the code is in ends as a
//               cancellation would end it, so that clean-up runs. Code that is not waiting then is
//               told at its next wait. It is told once: clean-up may wait.
// Result        The code's own when it returns or throws something else all the same.
// Token         Is armed as by a wait, for as long as the code runs.
// Protection    Neither protect() nor a destructor in the code is interrupted; the first wait after
//               it is. Code in protect() or in a destructor may have limits of its own.
// Cancellation  One of the coroutine itself wins over the limit, which no longer interrupts then:
//               clean-up may wait.

#include <type_traits>
#include <utility>

#include "fermata/core/wait_limit.hpp"
#include "fermata/sync/operation.hpp"

namespace fermata {

/// Runs `function`, which may wait until `options.timeout` has passed or `options.token` fires, all
/// of its waits together; then Timeout or OperationCancelled is thrown. Returns what it returns.
/// With a timeout of zero it can do what needs no wait. Limits nest. Throws UsageError outside of
/// coroutines and for a negative timeout.
template <class F>
std::invoke_result_t<F&> within(const WaitOptions& options, F&& function) {
  detail::check_token(options);
  if (detail::waits_plainly(options)) return function();
  const detail::WaitLimit limit(options);
  try {
    return function();
  } catch (const detail::LimitReached& reached) {
    limit.throw_on(reached);
  }
}

}  // namespace fermata
