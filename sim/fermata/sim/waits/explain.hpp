// SPDX-License-Identifier: Apache-2.0
#pragma once

// Why nothing goes on, or why a run has no end: the wait-for graph with its diagnosis, and what a
// run has left behind. What the classes mean is said in deadlock.hpp.

#include <cstdint>
#include <span>
#include <string>

#include "fermata/sim/record/failure.hpp"
#include "fermata/sim/waits/wait_graph.hpp"

namespace fermata {
class Runtime;
}

namespace fermata::sim {

/// The wait graph of `runtime` as JSON (docs/guide/deadlocks.md). Callable on the runtime's thread
/// at any time, also without a failure.
[[nodiscard]] std::string wait_graph_json(const Runtime& runtime);
/// The wait graph as text for people.
[[nodiscard]] std::string wait_graph_text(const Runtime& runtime);

namespace detail {

enum class Ending : std::uint8_t {
  Quiet,    // nothing will ever happen
  Endless,  // a limit has ended it
  Going,    // it goes on
};

struct Explanation {
  std::string text;  // Several lines.
  std::string json;
  std::string hopeless = {};  // With Endless: "'a', 'b'", who could never go on; may be empty.
  std::string reason = {};    // Why they cannot, in one line.
};

/// `steps` are those of the run so far.
[[nodiscard]] Explanation explain_waits(std::span<const WaitSource> sources, Ending ending,
                                        std::uint64_t steps);

/// The failure of a run that a limit has ended, which is the message `limit` unless there are
/// coroutines that can never go on: those come first then.
[[nodiscard]] Failure limit_failure(std::string limit, Explanation waits);

/// The leaks of a run that has ended: events, coroutines, contexts, armed timers. Empty when there
/// are none.
[[nodiscard]] std::string explain_leaks(const Runtime& runtime);

}  // namespace detail
}  // namespace fermata::sim
