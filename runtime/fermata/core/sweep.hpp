// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs a list of actions, each exactly once and in order, in coroutines of high priority. When one
// suspends, a new coroutine starts the next: as in TrueAsync's shutdown of objects.
// Used for finally handlers (CORE-CO-07, CORE-SP-10) and shutdown finalizers.

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fermata/core/switch_handlers.hpp"

namespace fermata {

class ScopeBase;

namespace detail {

class Scheduler;

class Sweep final : public backend::SwitchHandler, public std::enable_shared_from_this<Sweep> {
 public:
  /// The first action starts as soon as the caller gives up control. When all have ended, what they
  /// threw is the unhandled error of the last coroutine: one error itself, several as a
  /// CompositeError in order.
  /// They run in a child scope of `owner`, which no cancellation keeps from running them.
  static void launch(Scheduler& scheduler, ScopeBase& owner, std::string name,
                     std::vector<std::function<void()>> actions);

  Sweep(Scheduler& scheduler, ScopeBase& scope, std::string name,
        std::vector<std::function<void()>> actions);
  bool on_switch(CoroutineBase& coroutine, backend::SwitchMoment moment) override;

 private:
  void start_driver();
  void drive();

  Scheduler& scheduler_;
  ScopeBase& scope_;
  std::string name_;
  std::vector<std::function<void()>> actions_;
  std::size_t next_ = 0;
  std::uint64_t driver_id_ = 0;  // The newest coroutine; only its suspension starts another.
  std::size_t drivers_ = 0;
  std::vector<std::exception_ptr> errors_;
};

}  // namespace detail
}  // namespace fermata
