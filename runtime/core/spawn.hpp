// SPDX-License-Identifier: Apache-2.0
#pragma once

// Starting coroutines. The body never runs before the spawner gives up control (CORE-CO-17).

#include <memory>
#include <type_traits>
#include <utility>

#include "fermata/runtime/core/runtime.hpp"

namespace fermata {

namespace detail {

template <class F>
using BodyResult = std::decay_t<std::invoke_result_t<F&>>;

/// Creates the control block; the caller owns the one reference.
template <class F>
auto& make_coroutine(Runtime& runtime, SpawnOptions&& options, F&& body) {
  using Body = CoroutineBody<std::decay_t<F>, BodyResult<std::decay_t<F>>>;
  void* block = runtime.blocks().allocate(sizeof(Body));
  try {
    return *::new (block) Body(runtime, std::move(options), std::forward<F>(body));
  } catch (...) {
    runtime.blocks().release(block, sizeof(Body));
    throw;
  }
}

}  // namespace detail

/// Spawns `body` in `runtime`, which must be running on this thread.
template <class F>
Coroutine<detail::BodyResult<std::decay_t<F>>> spawn_in(Runtime& runtime, SpawnOptions&& options,
                                                        F&& body) {
  using Result = detail::BodyResult<std::decay_t<F>>;
  auto handle = Ref<detail::CoroutineOf<Result>>::adopt(
      detail::make_coroutine(runtime, std::move(options), std::forward<F>(body)));
  runtime.scheduler().spawn(*handle);
  return Coroutine<Result>(std::move(handle));
}

template <class F>
auto spawn(Name&& name, F&& body, SourcePlace place = SourcePlace::current()) {
  return spawn_in(current_runtime(),
                  SpawnOptions{std::move(name), Priority::Normal, place, nullptr},
                  std::forward<F>(body));
}

template <class F>
requires std::is_invocable_v < std::decay_t<F>
& > auto spawn(F&& body, SourcePlace place = SourcePlace::current()) {
  return spawn(Name(), std::forward<F>(body), place);
}

template <class F>
auto spawn(SpawnOptions options, F&& body, SourcePlace place = SourcePlace::current()) {
  options.place = place;
  return spawn_in(current_runtime(), std::move(options), std::forward<F>(body));
}

}  // namespace fermata
