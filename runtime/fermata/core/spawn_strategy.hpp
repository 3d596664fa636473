// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace fermata {

class CoroutineBase;
class ScopeBase;

namespace backend {

/// Is told of each spawn into a scope, and may send the coroutine to another one. Its functions
/// must not suspend.
class SpawnStrategy {
 public:
  virtual ~SpawnStrategy() = default;

  /// The scope that `coroutine` becomes a member of; `asked` is the one that it was to be spawned
  /// into. The strategy of another scope is not asked in its turn. What this throws comes out of
  /// spawn, and so does the UsageError of a scope that takes nothing new.
  virtual ScopeBase& provide_scope(CoroutineBase& /*coroutine*/, ScopeBase& asked) { return asked; }

  /// Called before `coroutine` is put in line; it may be given a priority, and cancelled: then its
  /// body never runs. It has no id yet. What this throws comes out of spawn, and the body never
  /// runs either. Not called when `scope` takes nothing new.
  virtual void before_spawn(CoroutineBase& /*coroutine*/, ScopeBase& /*scope*/) {}

  /// Called when `coroutine` is a member of `scope` and in line. What this throws is an unhandled
  /// error of the runtime.
  virtual void after_spawn(CoroutineBase& /*coroutine*/, ScopeBase& /*scope*/) {}
};

}  // namespace backend
}  // namespace fermata
