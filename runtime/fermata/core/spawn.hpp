// SPDX-License-Identifier: Apache-2.0
#pragma once

// Starting coroutines. The body never runs before the spawner gives up control (CORE-CO-17). A Task
// is a body as well, and so is a function that returns one: the coroutine runs it.

#include <memory>
#include <type_traits>
#include <utility>

#include "fermata/core/lazy_body.hpp"
#include "fermata/core/runtime.hpp"

namespace fermata {

namespace detail {

template <class F>
struct BodyResultOf {
  static_assert(std::is_invocable_v<F&>,
                "the body of a coroutine takes no arguments: capture what it needs");
  using type = void;
};
template <class F>
requires(std::is_invocable_v<F&>) struct BodyResultOf<F> {
  using type = std::decay_t<std::invoke_result_t<F&>>;
};
template <class F>
using BodyResult = typename BodyResultOf<F>::type;

/// Creates the control block; the caller owns the one reference.
template <class F>
auto& make_coroutine(Runtime& runtime, Name&& name, const SourcePlace& place, F&& body) {
  using Body = CoroutineBody<std::decay_t<F>, BodyResult<std::decay_t<F>>>;
  void* block = runtime.blocks().allocate(sizeof(Body));
  try {
    return *::new (block) Body(runtime, std::move(name), place, std::forward<F>(body));
  } catch (...) {
    runtime.blocks().release(block, sizeof(Body));
    throw;
  }
}

template <class F>
auto spawn_in(Runtime& runtime, Name&& name, const SourcePlace& place, Priority priority,
              ScopeBase* scope, F&& body) {
  require_spawnable(body);
  if constexpr (ReturnsLazy<std::decay_t<F>>) {
    return spawn_in(runtime, std::move(name), place, priority, scope,
                    LazyBody<std::decay_t<F>>{std::forward<F>(body)});
  } else {
    using Result = BodyResult<std::decay_t<F>>;
    auto handle = Ref<CoroutineOf<Result>>::adopt(
        make_coroutine(runtime, std::move(name), place, std::forward<F>(body)));
    runtime.scheduler().spawn(*handle, priority, scope);
    return Coroutine<Result>(std::move(handle));
  }
}

}  // namespace detail

struct SpawnOptions {
  Name name;
  Priority priority = Priority::Normal;
  SourcePlace place;
  ScopeBase* scope = nullptr;  // Null: the scope of the current coroutine, else the root scope.
};

/// Spawns `body` in `runtime`, which must be running on this thread.
template <class F>
auto spawn_in(Runtime& runtime, SpawnOptions&& options, F&& body) {
  return detail::spawn_in(runtime, std::move(options.name), options.place, options.priority,
                          options.scope, std::forward<F>(body));
}

template <class F>
auto spawn(Name&& name, F&& body, const SourcePlace& place = SourcePlace::current()) {
  return detail::spawn_in(current_runtime(), std::move(name), place, Priority::Normal, nullptr,
                          std::forward<F>(body));
}

template <class F>
requires(std::is_invocable_v<std::decay_t<F>&>) auto spawn(
    F&& body, const SourcePlace& place = SourcePlace::current()) {
  return spawn(Name(), std::forward<F>(body), place);
}

/// Refuses the arguments in the other order.
template <class F, std::size_t N>
requires(std::is_invocable_v<std::decay_t<F>&>) void spawn(F&&, const char (&)[N]) {
  static_assert(N == 0, "spawn: the name comes first: spawn(\"name\", body)");
}

template <class F>
auto spawn(SpawnOptions options, F&& body, const SourcePlace& place = SourcePlace::current()) {
  options.place = place;
  return spawn_in(current_runtime(), std::move(options), std::forward<F>(body));
}

}  // namespace fermata
