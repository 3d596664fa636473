// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the workloads of the zoo are played with.

#include <string>
#include <vector>

#include "fermata/runtime.hpp"
#include "fermata/sim/world/world.hpp"
#include "properties/interpreter/state.hpp"

namespace fermata::properties::zoo {

/// Fails the run: "WHAT (RULE): ...".
void complain(sim::World& world, const std::string& what);

/// A promise, when it `keeps` what it was completed with.
[[nodiscard]] Ref<PlainEvent> make_event(bool keeps);

/// Whether the coroutine is suspended, and in no way on its way back.
[[nodiscard]] bool sleeps(const Coroutine<>& coroutine);

/// Complains about waiters for a promise that has been kept.
void expect_awake(sim::World& world, const std::vector<Coroutine<>>& waiters);

/// Waits until the event is closed; what it tells before does not matter.
void wait_until_closed(Event& event);

/// Waits for the end of a coroutine that may have been cancelled.
void cancelled_or_done(const Coroutine<>& coroutine);

}  // namespace fermata::properties::zoo
