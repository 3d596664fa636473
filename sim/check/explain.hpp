// SPDX-License-Identifier: Apache-2.0
#pragma once

// Why nothing goes on: who waits for what, where it was spawned and where it suspended, and what is
// wrong with it.
//
// Cycle           Coroutines that wait for one another in a ring.
// Orphan          An event that nobody but its waiters refers to: nobody is left who could fire it.
// Lost wake-up    A plain event that somebody holds but nobody fires: it fired before the wait
//                 began, or its turn never came.

#include <string>

namespace fermata {
class Runtime;
}

namespace fermata::sim::detail {

/// Every coroutine that waits, in the order of ids, and what keeps each from going on. Several
/// lines; empty when nobody waits.
[[nodiscard]] std::string explain_waits(const Runtime& runtime);

/// Those of them that can never go on though others can: rings whose members nobody else can reach.
/// Empty when there is none.
[[nodiscard]] std::string explain_stuck(const Runtime& runtime);

/// What is left of a run that has ended: events, coroutines, contexts, armed timers. Empty when
/// nothing is.
[[nodiscard]] std::string explain_leaks(const Runtime& runtime);

}  // namespace fermata::sim::detail
