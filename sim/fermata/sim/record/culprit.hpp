// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace fermata::sim {

class RunLog;

/// How many of the runs failed in the same way.
struct Share {
  std::uint64_t failed = 0;
  std::uint64_t runs = 0;
};

/// The decision that makes a run fail, and the evidence for it.
struct Culprit {
  /// Its index among the tape's decisions; nothing when there are none.
  std::optional<std::size_t> decision;
  /// Entry j: the first j decisions are kept, the rest is drawn anew. Empty when there was no room
  /// for as many runs.
  std::vector<Share> reseeded;
  /// The run with all decisions but that one; null when it fails as well.
  std::shared_ptr<const RunLog> passing;
  std::uint64_t runs = 0;
};

}  // namespace fermata::sim
