// SPDX-License-Identifier: Apache-2.0
#pragma once

// A wait-for graph and its diagnosis, for people and for programs.

#include <string>

#include "fermata/sim/waits/deadlock.hpp"

namespace fermata::sim::detail {

/// Several lines: who waits and where, in the order of ids; each ring as
///   cycle: 'a' --mutex 'm' (held by 'b', taken at x.cpp:9)--> 'b' --join--> 'a'
/// and every other finding with its class.
[[nodiscard]] std::string wait_text(const WaitGraph& graph, const Diagnosis& diagnosis);

/// One ring, without the class and without a line break.
[[nodiscard]] std::string ring_text(const WaitGraph& graph, const Finding& finding);

/// A finding in a line: its class, and the ring or what is wrong.
[[nodiscard]] std::string finding_text(const WaitGraph& graph, const Finding& finding);

/// One object; its members are described in docs/guide/deadlocks.md.
[[nodiscard]] std::string wait_json(const WaitGraph& graph, const Diagnosis& diagnosis);

}  // namespace fermata::sim::detail
