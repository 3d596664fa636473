// SPDX-License-Identifier: Apache-2.0

// Cancellation races (Z-CN).

#include "fermata/runtime.hpp"
#include "properties/zoo/scene.hpp"
#include "properties/zoo/workload.hpp"

namespace fermata::properties::zoo {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Whether `action` was ended by a cancellation of the coroutine.
template <class Action>
bool is_cancelled(Action action) {
  try {
    action();
    return false;
  } catch (const OperationCancelled&) {
    return false;
  } catch (const Cancellation&) {
    return true;
  }
}

// A wait with a timeout; what it waits for ends, and then it is cancelled, before it runs.
FERMATA_WORKLOAD(cancelled_as_it_ends, "Z-CN-01", 2, "CANC", "SHUT", "CORE-CN-11") {
  const auto promise = make_event(true);
  bool asked = false;
  bool told = false;
  Coroutine<> waiter;
  const auto canceller = spawn("canceller", [&] {
    asked = !waiter->is_closed();
    waiter.cancel();
  });
  const auto completer = spawn("completer", [&] { promise->complete(); });
  waiter = spawn("waiter", [&] {
    told = is_cancelled([&] {
      wait(*promise, {.timeout = seconds(1)});
      delay(milliseconds(10));
    });
  });
  await(canceller);
  await(completer);
  told = is_cancelled([&] { await(waiter); }) || told;
  if (asked && !told) {
    complain(world, "CANC (CORE-CN-11): the waiter was asked to stop, and has never been told");
  }
}

// Two wait for the same promise, one of them with a token, which fires.
FERMATA_WORKLOAD(token_fires, "Z-CN-06", 1, "CANC", "CORE-AW-07") {
  const auto promise = make_event(true);
  const auto token = make_event(true);
  bool blamed = false;
  const auto bounded = spawn("bounded", [&] {
    try {
      wait(*promise, {.token = token.get()});
    } catch (const OperationCancelled&) {
    }
  });
  const auto unbounded = spawn("unbounded", [&] {
    try {
      wait(*promise);
    } catch (const OperationCancelled&) {
      blamed = true;
    }
  });
  suspend();
  token->complete();
  delay(milliseconds(100));
  if (sleeps(bounded)) {
    complain(world, "CANC (CORE-AW-07): the token has fired, and the wait that it ends goes on");
  }
  promise->complete();
  await(bounded);
  await(unbounded);
  if (blamed) {
    complain(world, "CANC (CORE-CN-02): a wait without a token was told that its token fired");
  }
}

// A shield within a shield; cancellations come while it is up.
FERMATA_WORKLOAD(shield_in_a_shield, "Z-CN-08", 2, "CANC", "REF", "CORE-CO-06") {
  Coroutine<> worker;
  bool up = false;
  bool asked = false;
  const auto canceller = spawn("canceller", [&] {
    for (int i = 0; i < 2; ++i) {
      asked = asked || up;
      worker.cancel();
      suspend();
    }
  });
  worker = spawn("worker", [&] {
    bool leaked = false;
    const bool told = is_cancelled([&] {
      protect([&] {
        up = true;
        leaked = is_cancelled([] {
          suspend();
          protect([] { suspend(); });
          suspend();
        });
        up = false;
      });
    });
    if (leaked) complain(world, "CANC (CORE-CO-06): a cancellation came through the shield");
    if (asked && !told && !leaked) {
      complain(world, "CANC (CORE-CO-06): the cancellation was lost with the shield");
    }
  });
  await(canceller);
  cancelled_or_done(worker);
}

// A wait at a condition, ended by its token, is cancelled while somebody else has the mutex.
FERMATA_WORKLOAD(cancelled_behind_its_token, "Z-CN-09", 2, "CANC", "CORE-CN-11") {
  Mutex mutex("mutex");
  Condition changed("changed");
  const auto token = make_event(true);
  bool waits = false;
  bool asked = false;
  bool told = false;
  const auto waiter = spawn("waiter", [&] {
    const Mutex::Guard guard(mutex);
    waits = true;
    told = is_cancelled([&] { changed.wait(mutex, {.token = token.get()}); });
  });
  const auto holder = spawn("holder", [&] {
    const Mutex::Guard guard(mutex);
    token->complete();
    for (int i = 0; i < 3; ++i) suspend();
  });
  const auto canceller = spawn("canceller", [&] {
    for (int i = 0; i < 3; ++i) suspend();
    if (!waits || !sleeps(waiter)) return;
    asked = true;
    waiter.cancel();
  });
  await(holder);
  await(canceller);
  cancelled_or_done(waiter);
  if (asked && !told) {
    complain(world, "CANC (CORE-CN-11): the waiter was asked to stop, and has never been told");
  }
}

// A piece of code with a deadline of its own, inside of one with more time.
FERMATA_WORKLOAD(deadline_is_left, "Z-CN-10", 1, "REF", "CORE-CN-08") {
  const auto deadline = make_timeout(seconds(5));
  within({.timeout = seconds(10)}, [&] {
    within({.token = deadline.get()}, [] { delay(milliseconds(1)); });
    if (deadline->loop_ref_count() > 0) {
      complain(world, "REF (CORE-CN-08): a deadline is armed, and nobody waits for it");
    }
  });
}

// Code is interrupted by its limit, and cleans up.
FERMATA_WORKLOAD(cleans_up_after_a_limit, "Z-CN-11", 1, "ONCE", "CORE-CN-07") {
  try {
    within({.timeout = milliseconds(5)}, [&] {
      try {
        delay(milliseconds(50));
      } catch (const Cancellation&) {
        if (is_cancelled([] { delay(milliseconds(1)); })) {
          complain(world, "ONCE (CORE-CN-07): code is told of its limit again");
        }
        throw;
      }
    });
  } catch (const Timeout&) {
  }
}

// Code that is cancelled cleans up for longer than its limit.
FERMATA_WORKLOAD(cleans_up_beyond_a_limit, "Z-CN-12", 1, "CANC", "CORE-CN-07") {
  const auto worker = spawn("worker", [&] {
    within({.timeout = seconds(5)}, [&] {
      try {
        delay(seconds(50));
      } catch (const Cancellation&) {
        if (is_cancelled([] { delay(seconds(20)); })) {
          complain(world, "CANC (CORE-CN-07): a limit interrupts the end of what was cancelled");
        }
        throw;
      }
    });
  });
  delay(milliseconds(1));
  worker.cancel();
  cancelled_or_done(worker);
}

}  // namespace

}  // namespace fermata::properties::zoo
