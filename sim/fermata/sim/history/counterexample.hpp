// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes what cannot be explained small enough to be read.
//
// First the shortest beginning of the history that cannot be explained: what has no explanation has
// none whatever comes later. Then every operation that does not matter goes: one does not when the
// rest has no explanation even if nobody knows its response, or whether it took effect. (One that
// only reads has no effect.) Leaving out more than that could make a legal history look wrong: a
// write, say, whose value somebody read. Of those that went, what the best order of the others
// needs comes back.

#include <cstdint>
#include <span>
#include <vector>

#include "fermata/sim/history/linearizability.hpp"

namespace fermata::sim::detail {

struct Counterexample {
  /// In the order of invocations.
  std::vector<OperationSpan> spans;
  /// The operation whose response nothing explains.
  std::uint32_t unexplained = 0;
  /// The longest list of operations that can be explained, in an order that explains them.
  std::vector<std::uint32_t> longest_order;
};

/// `spans` must have no linearization, as `search` has found. The searches that drop operations
/// visit at most `limit` configurations together; what is not decided then stays.
[[nodiscard]] Counterexample find_counterexample(std::span<const OperationSpan> spans,
                                                 const LinearizationSearch& search,
                                                 Semantics& semantics, std::uint64_t limit);

}  // namespace fermata::sim::detail
