// SPDX-License-Identifier: Apache-2.0
#pragma once

// What came of each chunk: one file named by it. Who does a chunk twice must get the same bytes;
// other bytes are kept beside, since they are a finding: nondeterminism across machines.

#include <string>
#include <string_view>
#include <vector>

#include "fermata/sim/fleet/publisher.hpp"

namespace fermata::sim::fleet {

class Results {
 public:
  /// Both must outlive this.
  Results(const PlanFolder& folder, Publisher& publisher)
      : folder_(folder), publisher_(publisher) {}

  /// Suspends, as all here.
  [[nodiscard]] bool has(ChunkId chunk) const { return exists(folder_.result(chunk)); }
  /// Durable when it returns. After `Different` both results are kept.
  Publication publish(ChunkId chunk, std::string_view bytes);
  [[nodiscard]] std::string read(ChunkId chunk) const;
  /// The chunks that have one, in the order of their identities.
  [[nodiscard]] std::vector<ChunkId> list() const;
  /// Makes durable what list() gives: who published it may have died before that.
  void sync() const;

 private:
  [[nodiscard]] std::vector<std::string> folders() const;

  const PlanFolder& folder_;
  Publisher& publisher_;
};

}  // namespace fermata::sim::fleet
