// SPDX-License-Identifier: Apache-2.0
#pragma once

// How a worker does the chunks of a plan whose tests are fuzzed. The inputs that the chunks have
// found are files of the plan's folder, named by content; each result has the names of its own.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fermata/base/function_ref.hpp"
#include "fermata/sim/cli/fleet/chunk_result.hpp"
#include "fermata/sim/cli/fleet/fleet_generations.hpp"
#include "fermata/sim/cli/fleet/fuzz_process.hpp"
#include "fermata/sim/fleet/publisher.hpp"

namespace fermata::sim::cli {

class FleetFuzzing {
 public:
  using GoOn = fermata::detail::FunctionRef<void()>;
  /// Explores the one run of a test that `options` asks for, which counts as the run number `run`,
  /// and returns what its processes have reported; nothing when it was interrupted.
  using Explore = std::function<std::optional<std::vector<EventFiles>>(
      const RunOptions& options, const std::string& test, std::uint64_t run)>;

  /// All must outlive this. `options` are those of the plan's tests.
  FleetFuzzing(const TestBinary& binary, RunOptions options, const fleet::PlanFolder& folder,
               fleet::Publisher& publisher)
      : binary_(binary), options_(std::move(options)), folder_(folder), publisher_(publisher) {}

  /// The result of a chunk; nothing when it was interrupted. An input that fails becomes an
  /// exploration of one run, with the input as its strategy; then the chunk goes on without it.
  [[nodiscard]] std::optional<ChunkResult> run(const FuzzedChunk& todo, const Explore& explore,
                                               GoOn go_on) const;

 private:
  [[nodiscard]] std::optional<ChunkResult> fuzz(const FuzzedChunk& todo, const Explore& explore,
                                                GoOn go_on) const;
  [[nodiscard]] std::optional<ChunkResult> merge(const FuzzedChunk& todo, GoOn go_on) const;
  [[nodiscard]] std::optional<std::vector<EventFiles>> examine(const std::string& test,
                                                               std::string_view input,
                                                               std::uint64_t run,
                                                               const Explore& explore) const;
  [[nodiscard]] Inputs read(const InputNames& names, GoOn go_on) const;
  void publish(const Inputs& inputs, GoOn go_on) const;

  const TestBinary& binary_;
  RunOptions options_;
  const fleet::PlanFolder& folder_;
  fleet::Publisher& publisher_;
};

}  // namespace fermata::sim::cli
