// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "fermata/sim/cli/event_reader.hpp"
#include "fermata/sim/cli/fleet/fleet_generations.hpp"
#include "fermata/sim/cli/fleet/fleet_plan.hpp"
#include "fermata/sim/cli/test_binary.hpp"
#include "fermata/sim/fleet/publisher.hpp"
#include "fermata/sim/fleet/workload.hpp"

namespace fermata::sim::cli {

/// Does chunks by exploring them, as `fermata run` does, or by fuzzing, in the folder that is
/// current. What they
/// leave names no other path than those below that folder and below the plan's, so that it is the
/// same on every machine.
class FleetWorkload final : public fleet::Workload {
 public:
  /// All but the plan must outlive this. `binary` is the copy of the plan's program in the current
  /// folder.
  FleetWorkload(FleetPlan plan, const TestBinary& binary, const fleet::PlanFolder& folder,
                fleet::Publisher& publisher);

  [[nodiscard]] std::size_t size() const override { return planned_ + grown_.size(); }
  [[nodiscard]] fleet::ChunkId at(std::size_t index) const override;
  bool grow() override;
  void close(std::size_t count) override;
  std::optional<std::string> run(std::size_t index,
                                 fermata::detail::FunctionRef<void()> go_on) override;

 private:
  using GoOn = fermata::detail::FunctionRef<void()>;

  [[nodiscard]] RunOptions options_of_tests() const;
  [[nodiscard]] RunOptions options_for(const FleetChunk& chunk) const;
  std::optional<std::string> run_planned(std::size_t index, GoOn go_on);
  std::optional<std::string> fuzz(const FuzzedChunk& chunk, GoOn go_on);
  std::optional<std::vector<EventFiles>> explore(const RunOptions& options, const std::string& test,
                                                 std::optional<std::uint64_t> run, GoOn go_on);
  void publish_failures(EventFiles& part, GoOn go_on);
  std::optional<std::string> shrink(const FailureRecord& failure, GoOn go_on);
  void add_stage();
  bool add_shrinks();

  FleetPlan plan_;
  const TestBinary& binary_;
  const fleet::PlanFolder& folder_;
  fleet::Publisher& publisher_;
  std::size_t planned_;  // How many chunks follow from the plan alone.
  std::optional<FleetGenerations> generations_;
  /// Chunks that followed from others: what is fuzzed or merged, and the failures to shrink.
  std::vector<std::variant<FuzzedChunk, FailureRecord>> grown_;
  bool has_shrinks_ = false;
};

}  // namespace fermata::sim::cli
