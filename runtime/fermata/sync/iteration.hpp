// SPDX-License-Identifier: Apache-2.0
#pragma once

// The engine of iterate(): workers that share one position.
//
// Workers   The first is spawned by the caller. Each time one of them suspends inside a callback a
//           microtask spawns one more, while elements are left and there may be more workers: so
//           callbacks that never suspend all run in one (CORE-IT-03).
// Slots     Taken at the spawn, given back when the worker's body is destroyed, whatever the end:
//           also by one that was cancelled before it ran (CORE-IT-09).
// Moving    Who asks for the next element may suspend there; the others leave meanwhile
//           (CORE-IT-07).
// Ownership References: the caller, each worker and the queue of microtasks hold one.
// Source    CORE-IT-01 to 10.

#include <cstddef>
#include <exception>
#include <utility>

#include "fermata/core/microtasks.hpp"
#include "fermata/core/scope.hpp"
#include "fermata/core/suspend.hpp"

namespace fermata {

struct IterateOptions {
  /// How many callbacks may run at a time; 0 for any number. UsageError when negative.
  std::ptrdiff_t concurrency = 0;
  /// Whether callbacks that still run when the iteration is over, or its caller cancelled, are
  /// cancelled; otherwise they are waited for.
  bool cancel_pending = true;
  /// Priority of the coroutines that run the callbacks.
  Priority priority = Priority::Normal;
  /// How long the iteration may take, and what else ends it. Then callbacks that run are treated as
  /// `cancel_pending` says, and Timeout or OperationCancelled is thrown.
  WaitOptions limits = {};
};

namespace detail {

class Iteration : public backend::Microtask {
 public:
  /// Suspends until every worker, and whatever else is in the child scope, has ended. Throws the
  /// first error of a callback or of what is iterated over, with the later ones linked.
  void run_to_end();

 protected:
  Iteration(const IterateOptions& options, const SourcePlace& place);
  ~Iteration() override = default;

  /// Fetches one element and calls the callback with it. False at the end, and when the callback
  /// wants no more.
  virtual bool step() = 0;
  /// False when it is known that no element is left.
  [[nodiscard]] virtual bool may_have_more() const = 0;

  /// Returns what `fetch` gives; nobody else fetches meanwhile.
  template <class Fetch>
  auto exclusively(Fetch fetch) {
    moving_ = true;
    struct Moved {
      Iteration& iteration;
      ~Moved() { iteration.moving_ = false; }
    } moved{*this};
    return fetch();
  }

  /// The next suspension may bring one more worker.
  void expect_another();

 private:
  class Seat;
  class Done;

  void run() override;
  void spawn_worker();
  void work();
  void fail(const std::exception_ptr& error);
  void worker_left() noexcept;
  void wait_for_workers();
  void end_scope();
  [[nodiscard]] std::exception_ptr wait_for_all();

  std::size_t limit_;
  bool cancel_pending_;
  Priority priority_;
  SourcePlace place_;
  Scope scope_;
  Ref<Event> done_;  // Fires when the last worker has left.
  std::size_t workers_ = 0;
  bool queued_ = false;
  bool moving_ = false;
  bool finished_ = false;            // No callback starts any more.
  std::exception_ptr error_;         // Of callbacks and of what is iterated over.
  std::exception_ptr cancellation_;  // Of a callback, not caused by us.
};

}  // namespace detail
}  // namespace fermata
