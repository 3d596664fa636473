// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "fermata/base/time.hpp"

namespace fermata::sim {

/// The misfortune that a nemesis brings upon machines; see World::nemesis(). The three numbers say
/// how many strikes there are in a run on average, however long it is; they may be fractions. Some
/// runs have none of a kind, others more than twice as many. Strikes are placed on the moments of
/// each machine that an earlier run has come to, so they are fewer where machines do little. In
/// half of the runs that come to a mark (FERMATA_REACHABLE, FERMATA_SOMETIMES) they come at some of
/// the marks instead, again and again.
struct NemesisOptions {
  /// The machines that it strikes. Empty: all that exist, except the one whose program calls.
  std::vector<std::string> machines = {};
  /// A machine goes down, as by Node::crash(), and comes up again.
  double crashes = 12;
  /// A machine, or a group of machines, is cut off for a while: from all others or only from other
  /// machines of `machines`, in both directions or in one; or two machines cannot reach each other.
  double partitions = 6;
  /// A machine gets no processor time for a while, as by Node::pause().
  double pauses = 2;
  /// At any time at least this many of `machines` are up, run, and can reach each other in both
  /// directions, as far as the nemesis is concerned: it leaves out a strike after which fewer
  /// would be left. A machine is not counted while it is down, paused or ended, whoever did that,
  /// nor while the nemesis has cut it off from any other one; of two machines that cannot reach
  /// each other one is counted. With a quorum the fault `partition` does not strike by itself.
  /// Other faults, such as delays, and what the test does to links do not count. 0: no promise.
  std::size_t quorum = 0;
  /// When this time has passed since the call the world heals, as by World::heal(); machines that
  /// the nemesis has crashed come up, and those that it has paused go on. Without it the last
  /// strike ends by itself.
  std::optional<Duration> until = {};
};

}  // namespace fermata::sim
