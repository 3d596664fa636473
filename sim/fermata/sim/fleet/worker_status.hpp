// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/core/reactor.hpp"
#include "fermata/sim/fleet/plan_folder.hpp"

namespace fermata::sim::fleet {

/// What a worker tells of itself. The times are those of its own clock.
struct WorkerStatus {
  std::string worker;
  /// "works", "waits", "ended"; "failed: ..." when it could not work.
  std::string state = "works";
  std::string chunk;            // The one that it works on; empty for none.
  std::uint64_t done = 0;       // Chunks whose result it was the first to give.
  std::uint64_t twice = 0;      // Chunks that had a result when it was done with them.
  std::uint64_t different = 0;  // Those of them whose bytes were others.
  std::uint64_t stolen = 0;     // Leases that it has taken from others.
  std::uint64_t lost = 0;       // Leases that others have taken from it.
  Duration busy{};              // In which it had a chunk.
  WallTime began;
  WallTime told;  // When it said so.

  [[nodiscard]] std::string json() const;
  /// Empty fields for what `text` does not have.
  [[nodiscard]] static WorkerStatus parse(std::string_view text);
};

/// What all workers of the plan have told last, in the order of their names. Suspends.
[[nodiscard]] std::vector<WorkerStatus> workers_of(const PlanFolder& folder);

}  // namespace fermata::sim::fleet
