// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/fleet/fleet_workload.hpp"

#include <filesystem>
#include <limits>
#include <utility>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/io/file_system.hpp"
#include "fermata/sim/cli/exploration.hpp"
#include "fermata/sim/cli/fleet/chunk_result.hpp"
#include "fermata/sim/cli/fleet/fleet_findings.hpp"
#include "fermata/sim/cli/fleet/fleet_fuzzing.hpp"
#include "fermata/sim/cli/fleet/fleet_shrinks.hpp"
#include "fermata/sim/cli/interrupts.hpp"
#include "fermata/sim/cli/result_folder.hpp"
#include "fermata/sim/fleet/patience.hpp"
#include "fermata/sim/run/canary.hpp"
#include "fermata/sim/run/environment.hpp"

namespace fermata::sim::cli {
namespace {

constexpr const char* kOut = "fermata-out";

/// What a chunk that explores leaves out: one failure of each signature is made small and looked
/// at, by a chunk of its own.
constexpr const char* kOfShrinking[] = {"FERMATA_SHRINK", "FERMATA_EXPLAIN", "FERMATA_REPORT"};

}  // namespace

FleetWorkload::FleetWorkload(FleetPlan plan, const TestBinary& binary,
                             const fleet::PlanFolder& folder, fleet::Publisher& publisher)
    : plan_(std::move(plan)),
      binary_(binary),
      folder_(folder),
      publisher_(publisher),
      planned_(plan_.fuzzes() ? 1 : plan_.size()) {
  if (!plan_.fuzzes()) return;
  generations_.emplace(plan_, [this](fleet::ChunkId chunk) {
    return std::optional(
        ChunkResult::parse(fleet::patiently([&] { return fs::read_file(folder_.result(chunk)); })));
  });
  add_stage();
}

/// The options of all processes that run tests.
RunOptions FleetWorkload::options_of_tests() const {
  RunOptions options = plan_.exploration().options;
  options.jobs = 1;
  options.out = kOut;
  for (const char* name : kOfShrinking) {
    std::erase_if(options.handed_on, [&](const auto& setting) { return setting.first == name; });
    options.handed_on.emplace_back(name, "off");
  }
  return options;
}

RunOptions FleetWorkload::options_for(const FleetChunk& chunk) const {
  RunOptions options = options_of_tests();
  // What cuts an exploration into shards picks the chunk out of it.
  options.shard = {chunk.number, std::numeric_limits<std::uint64_t>::max(), "the plan"};
  if (options.runs == kNoEnd) options.runs = chunk.range.end();
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
  if (index < planned_) return plan_.id(index);
  const auto& grown = grown_[index - planned_];
  if (const auto* fuzzed = std::get_if<FuzzedChunk>(&grown)) return fuzzed->id;
  return shrink_id(plan_, std::get<FailureRecord>(grown));
}

bool FleetWorkload::grow() {
  if (has_shrinks_) return false;
  if (!generations_ || !generations_->advance()) return add_shrinks();
  add_stage();
  return true;
}

void FleetWorkload::close(std::size_t count) {
  FERMATA_ASSERT(grown_.empty());
  plan_.close(count);
  planned_ = plan_.size();
}

void FleetWorkload::add_stage() {
  FERMATA_ASSERT(generations_.has_value());
  for (const FuzzedChunk& chunk : generations_->stage()) grown_.emplace_back(chunk);
}

bool FleetWorkload::add_shrinks() {
  for (FailureRecord& failure : fleet::patiently([&] { return best_failures(folder_, plan_); })) {
    if (!wants_shrinking(failure, plan_)) continue;
    grown_.emplace_back(std::move(failure));
    has_shrinks_ = true;
  }
  return has_shrinks_;
}

std::optional<std::string> FleetWorkload::run(std::size_t index, GoOn go_on) {
  FERMATA_ASSERT(index < size());
  std::filesystem::remove_all(kOut);
  if (index < planned_) return run_planned(index, go_on);
  const auto& grown = grown_[index - planned_];
  if (const auto* fuzzed = std::get_if<FuzzedChunk>(&grown)) return fuzz(*fuzzed, go_on);
  return shrink(std::get<FailureRecord>(grown), go_on);
}

std::optional<std::string> FleetWorkload::run_planned(std::size_t index, GoOn go_on) {
  const FleetChunk chunk = plan_.chunk(index);
  if (plan_.fuzzes()) return fuzz({plan_.id(index), chunk}, go_on);
  auto parts = explore(options_for(chunk), chunk.test, std::nullopt, go_on);
  if (!parts) return std::nullopt;
  return ChunkResult{chunk.test, chunk.number, std::move(*parts)}.text();
}

std::optional<std::string> FleetWorkload::fuzz(const FuzzedChunk& chunk, GoOn go_on) {
  RunOptions options = options_of_tests();
  if (chunk.chunk.is_canary) options.faults = "none";
  const FleetFuzzing fuzzing(binary_, std::move(options), folder_, publisher_);
  const auto explore_one = [&](const RunOptions& one, const std::string& test, std::uint64_t run) {
    return explore(one, test, run, go_on);
  };
  const std::optional<ChunkResult> result = fuzzing.run(chunk, explore_one, go_on);
  return result ? std::optional(result->text()) : std::nullopt;
}

/// What the processes of an exploration report; of one run, as if it were the run number `run`.
std::optional<std::vector<EventFiles>> FleetWorkload::explore(const RunOptions& options,
                                                              const std::string& test,
                                                              std::optional<std::uint64_t> run,
                                                              GoOn go_on) {
  ResultFolder results(options.out);
  results.take();
  results.clear();
  Exploration::Listener listener;
  listener.progress = [&](const Moment&) { go_on(); };
  Exploration exploration(options, binary_, results, {test}, std::move(listener));
  if (exploration.run() == Exploration::End::Interrupted) return std::nullopt;
  std::vector<EventFiles> parts = results.range_files(test);
  for (EventFiles& part : parts) {
    if (run) part = renumbered(std::move(part), *run);
    if (test != kCanaryTest) publish_failures(part, go_on);
  }
  return parts;
}

/// What the failures of `part` have left is published, and is what `part` names then.
void FleetWorkload::publish_failures(EventFiles& part, GoOn go_on) {
  part.events = without_outputs(part.events, folder_, publisher_);
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

std::optional<std::string> FleetWorkload::shrink(const FailureRecord& failure, GoOn go_on) {
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
  const std::string text = replaced(line_of(small), replacements);
  return ChunkResult{failure.test, failure.run, {{text, {}}}}.text();
}

}  // namespace fermata::sim::cli
