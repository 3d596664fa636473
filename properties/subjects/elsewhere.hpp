// SPDX-License-Identifier: Apache-2.0
#pragma once

// What an actor does on a thread of its own.

#include <exception>
#include <utility>

#include "fermata/io/thread.hpp"
#include "fermata/runtime.hpp"

namespace fermata::properties {

/// Calls `action` in the main coroutine of a new thread; throws what it throws. Suspends until the
/// thread has ended: a caller that is cancelled cancels it.
template <class Action>
void elsewhere(Action action) {
  const auto thread = spawn_thread(std::move(action), {.name = "elsewhere"});
  try {
    await(thread);
  } catch (const RemoteError& error) {
    std::rethrow_exception(error.original());
  } catch (const Cancellation&) {
    thread.cancel();
    protect([&] {
      try {
        await(thread);
      } catch (const RemoteError&) {
      } catch (const Cancellation&) {
      }
    });
    throw;
  }
}

}  // namespace fermata::properties
