// SPDX-License-Identifier: Apache-2.0
#pragma once

// A plan that ends by time: when its workers together have had chunks for so long. Then one of them
// decides how many chunks count, by a file that is written once. From there on it is a plan as any
// other, of which those chunks are still to be finished.

#include <cstddef>
#include <optional>
#include <string>

#include "fermata/base/time.hpp"
#include "fermata/sim/fleet/publisher.hpp"
#include "fermata/sim/fleet/worker_status.hpp"

namespace fermata::sim::fleet {

/// The number of chunks in the text of that file; nothing when it is another text.
[[nodiscard]] std::optional<std::size_t> parse_end(const std::string& text);

class PlanEnd {
 public:
  /// Both must outlive this. REQUIRES: time > 0.
  PlanEnd(const PlanFolder& folder, Publisher& publisher, Duration time);

  /// How many chunks count; nothing before that is decided. Suspends.
  [[nodiscard]] std::optional<std::size_t> decided() const;
  /// Decides it, unless somebody has; returns what was decided. Suspends.
  std::size_t decide(std::size_t count);

  /// Whether the workers have used the time up, as far as they have told; of `own`, as it is now.
  /// Looks at them from time to time only. May suspend.
  [[nodiscard]] bool is_used_up(const WorkerStatus& own);

 private:
  const PlanFolder& folder_;
  Publisher& publisher_;
  Duration time_;
  Instant looked_;     // When it has looked last at what others have told.
  Duration others_{};  // How long they had chunks then.
};

}  // namespace fermata::sim::fleet
