// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/fleet/fleet_workload.hpp"

#include <filesystem>
#include <limits>
#include <utility>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/sim/base/json.hpp"
#include "fermata/sim/cli/exploration.hpp"
#include "fermata/sim/cli/fleet/chunk_result.hpp"
#include "fermata/sim/cli/fleet/fleet_findings.hpp"
#include "fermata/sim/cli/fleet/fleet_shrinks.hpp"
#include "fermata/sim/cli/interrupts.hpp"
#include "fermata/sim/cli/result_folder.hpp"
#include "fermata/sim/fleet/patience.hpp"
#include "fermata/sim/run/environment.hpp"

namespace fermata::sim::cli {
namespace {

constexpr const char* kOut = "fermata-out";

/// What a chunk that explores leaves out: one failure of each signature is made small and looked
/// at, by a chunk of its own.
constexpr const char* kOfShrinking[] = {"FERMATA_SHRINK", "FERMATA_EXPLAIN", "FERMATA_REPORT"};

}  // namespace

RunOptions FleetWorkload::options_for(const FleetChunk& chunk) const {
  RunOptions options = plan_.exploration().options;
  options.jobs = 1;
  options.out = kOut;
  // What cuts an exploration into shards picks the chunk out of it.
  options.shard = {chunk.number, std::numeric_limits<std::uint64_t>::max(), "the plan"};
  for (const char* name : kOfShrinking) {
    std::erase_if(options.handed_on, [&](const auto& setting) { return setting.first == name; });
    options.handed_on.emplace_back(name, "off");
  }
  if (chunk.is_canary) {
    options.runs = chunk.range.runs;
    options.strategy = Options().strategy;
    options.faults = "none";
    options.keep_going = false;
  }
  return options;
}

fleet::ChunkId FleetWorkload::at(std::size_t index) const {
  FERMATA_ASSERT(index < size());
  if (index < plan_.size()) return plan_.id(index);
  return shrink_id(plan_, shrinks_[index - plan_.size()]);
}

bool FleetWorkload::grow() {
  if (!shrinks_.empty()) return false;
  for (FailureRecord& failure : fleet::patiently([&] { return best_failures(folder_); })) {
    if (wants_shrinking(failure, plan_)) shrinks_.push_back(std::move(failure));
  }
  return !shrinks_.empty();
}

std::optional<std::string> FleetWorkload::run(std::size_t index,
                                              fermata::detail::FunctionRef<void()> go_on) {
  FERMATA_ASSERT(index < size());
  std::filesystem::remove_all(kOut);
  if (index < plan_.size()) return explore(plan_.chunk(index), go_on);
  return shrink(shrinks_[index - plan_.size()], go_on);
}

std::optional<std::string> FleetWorkload::explore(const FleetChunk& chunk,
                                                  fermata::detail::FunctionRef<void()> go_on) {
  const RunOptions options = options_for(chunk);
  ResultFolder results(options.out);
  results.take();
  Exploration::Listener listener;
  listener.progress = [&](const Moment&) { go_on(); };
  Exploration exploration(options, binary_, results, {chunk.test}, std::move(listener));
  if (exploration.run() == Exploration::End::Interrupted) return std::nullopt;
  ChunkResult result{chunk.test, chunk.number, results.range_files(chunk.test)};
  if (!chunk.is_canary) {
    for (EventFiles& part : result.parts) publish_failures(part, go_on);
  }
  return result.text();
}

/// What the failures of `part` have left is published, and is what `part` names then.
void FleetWorkload::publish_failures(EventFiles& part, fermata::detail::FunctionRef<void()> go_on) {
  std::vector<Replacement> replacements;
  for (const char* name : kOfShrinking) replacements.push_back({std::string(name) + "=off ", ""});
  for (const FailureRecord& failure : parse_events(part).failures) {
    for (Replacement& one : publish_files(failure, folder_, publisher_)) {
      replacements.push_back(std::move(one));
    }
    go_on();
  }
  part.events = replaced(std::move(part.events), replacements);
  for (const FailureRecord& failure : parse_events(part).failures) {
    publish_record(failure, folder_, publisher_);
    go_on();
  }
}

std::optional<std::string> FleetWorkload::shrink(const FailureRecord& failure,
                                                 fermata::detail::FunctionRef<void()> go_on) {
  FailureRecord small = shrunk(failure, plan_, binary_, folder_.root(), [&] { go_on(); });
  if (interrupts() > 0) return std::nullopt;
  std::vector<Replacement> replacements;
  FailureRecord local = small;
  if (!local.tape.starts_with(kOut)) {
    replacements.push_back({std::string(kOut) + "/found.tape", failure.tape});
    local.tape = local.shrunk_tape;
  }
  for (Replacement& one : publish_files(local, folder_, publisher_)) {
    replacements.push_back(std::move(one));
  }
  const std::string text = replaced(json_text(json_of(small)), replacements) + '\n';
  return ChunkResult{failure.test, failure.run, {{text, {}}}}.text();
}

}  // namespace fermata::sim::cli
