// SPDX-License-Identifier: Apache-2.0
#pragma once

// Waiting for a coroutine and taking its result (CORE-AW-06).

#include <type_traits>

#include "fermata/runtime/core/suspend.hpp"

namespace fermata {

/// The result of `coroutine`, at once when it has ended (CORE-CO-09). Throws its error, which then
/// counts as handled; Cancellation when the caller is cancelled meanwhile; OperationCanceled and
/// Timeout as `options` say. May suspend. The result stays with the coroutine, for as long as a
/// handle lives.
template <class T>
const T& await(const Coroutine<T>& coroutine, const WaitOptions& options = {},
               SourcePlace place = SourcePlace::current()) {
  wait(*coroutine, options, place);
  return coroutine->result();
}

/// The same for a handle that nobody keeps: the result is the caller's.
template <class T>
  requires(!std::is_void_v<T>)
T await(Coroutine<T>&& coroutine, const WaitOptions& options = {},
        SourcePlace place = SourcePlace::current()) {
  const Coroutine<T> kept = std::move(coroutine);
  wait(*kept, options, place);
  return kept->take_result();
}

inline void await(const Coroutine<void>& coroutine, const WaitOptions& options = {},
                  SourcePlace place = SourcePlace::current()) {
  wait(*coroutine, options, place);
}

}  // namespace fermata
