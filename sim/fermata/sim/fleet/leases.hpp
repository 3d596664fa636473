// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who works on which chunk. A lease keeps two workers from doing the same; nothing depends on it,
// since the work can be done twice.
//
// Taking    A lease is the file CHUNK.GENERATION, made by link(2), which one of several wins.
// Keeping   Its file is touched while the work goes on.
// Stealing  Of a lease whose file has stayed the same for the lifetime, by the clock of the one who
//           looks, the next generation can be taken. No time of another machine is compared with
//           anything but itself. A thief that comes late finds that generation taken: of many who
//           see the same old lease one steals it.
// Giving up Only its owner removes the file of a lease, until the chunk has a result.

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "fermata/base/time.hpp"
#include "fermata/sim/fleet/publisher.hpp"

namespace fermata::sim::fleet {

struct Lease {
  ChunkId chunk;
  unsigned generation = 0;  // How often it was stolen.
};

class Leases {
 public:
  /// All must outlive this. REQUIRES: lifetime > 0.
  Leases(const PlanFolder& folder, Publisher& publisher, Duration lifetime);

  /// Looks which leases there are. Suspends.
  void refresh();

  /// Takes the lease of `chunk`, unless somebody has it whose lease is not old. Suspends.
  [[nodiscard]] std::optional<Lease> take(ChunkId chunk);
  /// Says that its work goes on. Returns false when it was stolen. Suspends.
  bool touch(const Lease& lease);
  /// Gives it up. Suspends.
  void release(const Lease& lease);
  /// Removes every lease of a chunk that has a result. Suspends.
  void forget(ChunkId chunk);

 private:
  /// What this worker knows of a lease.
  struct Seen {
    unsigned generation = 0;
    Instant since;                         // Since when it has not seen it change.
    std::optional<std::int64_t> modified;  // In the time of the file system, in ns.
  };

  [[nodiscard]] std::string path_of(ChunkId chunk, unsigned generation) const;
  [[nodiscard]] bool is_old(ChunkId chunk, Seen& seen);

  const PlanFolder& folder_;
  Publisher& publisher_;
  Duration lifetime_;
  std::map<ChunkId, Seen> seen_;
};

}  // namespace fermata::sim::fleet
