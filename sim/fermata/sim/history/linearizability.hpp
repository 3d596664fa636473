// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether concurrent operations can be explained as operations one after another: is there an order
// of them that keeps the order of those that did not overlap, and in which each has the result that
// it had? The search of Wing & Gong ("Testing and verifying concurrent objects", 1993) with the
// memory of Lowe ("Testing for linearizability", 2017), without recursion.
//
// Loose       An operation without a response may have taken effect at any time since its
//             invocation, or never. Such operations are tried after all others.
// Commitment  An operation that can have had its result without changing anything, in whatever
//             state, comes next as soon as it can, without alternatives: every explanation in which
//             it comes later is one in which it comes now.
// Cost        Each pair of state and set of operations is visited once; of two that differ only in
//             loose ones, the one with fewer is enough. Sets are kept from the first operation that
//             is missing to the last that is not, so that a long history of few clients takes
//             little. What grows fast is with how many operations overlap, above all of a queue.
// Order       Depends on the arguments alone.

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace fermata::sim {

enum class Linearizability : std::uint8_t {
  Yes,
  No,
  Undecided,  // The search came to its limit.
};

/// "linearizable", "not linearizable", "undecided".
[[nodiscard]] const char* to_string(Linearizability answer) noexcept;

namespace detail {

/// When an operation was under way, in positions of the one order of all invocations and responses.
struct OperationSpan {
  static constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t operation = 0;  // What Semantics calls it.
  std::uint32_t invoked = 0;
  std::uint32_t responded = kNever;
  /// Whether an operation with a response leaves the state as it is wherever it can have that
  /// result.
  bool only_reads = false;

  [[nodiscard]] bool is_loose() const noexcept { return responded == kNever; }
};

/// The effects of operations. States are numbers that the implementation assigns; equal states have
/// equal numbers.
class Semantics {
 public:
  virtual ~Semantics() = default;

  [[nodiscard]] virtual std::uint32_t initial_state() = 0;
  /// Appends to `to` every state that `operation` can lead to from `from`: with the result that it
  /// had, or with any when it is `loose`.
  virtual void expand(std::uint32_t operation, bool loose, std::uint32_t from,
                      std::vector<std::uint32_t>& to) = 0;
};

struct LinearizationSearch {
  Linearizability answer = Linearizability::Undecided;
  /// How many pairs of state and set of operations were visited.
  std::uint64_t configurations = 0;
  /// The operations of the explanation in order; when there is none, of the longest one found.
  std::vector<std::uint32_t> order;
  /// When the answer is No, the position of the first response that no order went past. All before
  /// it can be explained.
  std::uint32_t furthest = 0;
};

/// Undecided when more than `limit` configurations would have to be visited.
[[nodiscard]] LinearizationSearch find_linearization(std::span<const OperationSpan> spans,
                                                     Semantics& semantics, std::uint64_t limit);

}  // namespace detail
}  // namespace fermata::sim
