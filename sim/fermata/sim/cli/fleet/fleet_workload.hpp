// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fermata/sim/cli/event_reader.hpp"
#include "fermata/sim/cli/fleet/fleet_plan.hpp"
#include "fermata/sim/cli/test_binary.hpp"
#include "fermata/sim/fleet/publisher.hpp"
#include "fermata/sim/fleet/workload.hpp"

namespace fermata::sim::cli {

/// Does chunks by exploring them, as `fermata run` does, in the folder that is current. What they
/// leave names no other path than those below that folder and below the plan's, so that it is the
/// same on every machine.
class FleetWorkload final : public fleet::Workload {
 public:
  /// All must outlive this. `binary` is the copy of the plan's program in the current folder.
  FleetWorkload(const FleetPlan& plan, const TestBinary& binary, const fleet::PlanFolder& folder,
                fleet::Publisher& publisher)
      : plan_(plan), binary_(binary), folder_(folder), publisher_(publisher) {}

  [[nodiscard]] std::size_t size() const override { return plan_.size() + shrinks_.size(); }
  [[nodiscard]] fleet::ChunkId at(std::size_t index) const override;
  bool grow() override;
  std::optional<std::string> run(std::size_t index,
                                 fermata::detail::FunctionRef<void()> go_on) override;

 private:
  [[nodiscard]] RunOptions options_for(const FleetChunk& chunk) const;
  std::optional<std::string> explore(const FleetChunk& chunk,
                                     fermata::detail::FunctionRef<void()> go_on);
  void publish_failures(EventFiles& part, fermata::detail::FunctionRef<void()> go_on);
  std::optional<std::string> shrink(const FailureRecord& failure,
                                    fermata::detail::FunctionRef<void()> go_on);

  const FleetPlan& plan_;
  const TestBinary& binary_;
  const fleet::PlanFolder& folder_;
  fleet::Publisher& publisher_;
  std::vector<FailureRecord> shrinks_;  // The failures to shrink, a chunk for each.
};

}  // namespace fermata::sim::cli
