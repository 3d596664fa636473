// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where the parts of a plan are. The folder is on storage that all workers share: a local disk, or
// NFS.
//
//   plan.json, program       what is to be done; written once
//   leases/CHUNK.GENERATION  who works on a chunk just now (leases.hpp)
//   results/DIGIT/CHUNK      what came of it (results.hpp); DIGIT: the first one of CHUNK
//   conflicts/CHUNK.HASH     another result of the same chunk
//   inputs/HASH              what a fuzzer has found to reach something new; named by content
//   findings/SIGNATURE/      what belongs to the failures of one signature, named by content
//   workers/NAME.json        what a worker tells of itself
//   end                      how many chunks count, of a plan that ends by time (plan_end.hpp)
//   tmp/                     files that are being written

#include <string>

#include "fermata/sim/fleet/chunk_id.hpp"

namespace fermata::sim::fleet {

class PlanFolder {
 public:
  static constexpr const char* kEnd = "end";

  explicit PlanFolder(std::string root) : root_(std::move(root)) {}

  /// Makes the folders inside of the root, which exists. Suspends. Throws UsageError when the file
  /// system has no hard links, InputOutputError when it cannot be written to.
  void create() const;

  /// Suspends. Throws UsageError when the file system has no hard links, or only says so. `writer`
  /// names who asks, and nobody else.
  void require_links(const std::string& writer) const;

  [[nodiscard]] const std::string& root() const noexcept { return root_; }
  [[nodiscard]] std::string leases() const { return root_ + "/leases"; }
  [[nodiscard]] std::string results() const { return root_ + "/results"; }
  [[nodiscard]] std::string conflicts() const { return root_ + "/conflicts"; }
  [[nodiscard]] std::string findings() const { return root_ + "/findings"; }
  [[nodiscard]] std::string inputs() const { return root_ + "/inputs"; }
  [[nodiscard]] std::string workers() const { return root_ + "/workers"; }
  [[nodiscard]] std::string temporary() const { return root_ + "/tmp"; }

  /// The folder of a chunk's result.
  [[nodiscard]] std::string results_of(ChunkId chunk) const;
  [[nodiscard]] std::string result(ChunkId chunk) const {
    return results_of(chunk) + '/' + chunk.text();
  }

 private:
  std::string root_;
};

}  // namespace fermata::sim::fleet
