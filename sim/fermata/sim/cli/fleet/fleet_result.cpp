// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/fleet/fleet_result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/base/counted.hpp"
#include "fermata/sim/base/whole_file.hpp"
#include "fermata/sim/cli/fleet/chunk_result.hpp"
#include "fermata/sim/cli/fleet/fleet_generations.hpp"
#include "fermata/sim/cli/fleet/fleet_shrinks.hpp"
#include "fermata/sim/cli/verdict.hpp"
#include "fermata/sim/fleet/plan_folder.hpp"

namespace fermata::sim::cli {
namespace {

namespace files = std::filesystem;

ChunkResult result_in(const std::string& path) {
  try {
    return ChunkResult::parse(whole_file(path));
  } catch (const Error& error) {
    throw Error(
        fmt::format("{}: {}; remove it and let a worker do the chunk again", path, error.what()));
  }
}

/// The failure that other bytes of the same chunk are.
ReplayResult conflict_of(const FleetChunk& chunk, fleet::ChunkId id, const std::string& other) {
  FailureRecord failure;
  failure.test = chunk.test;
  failure.failure_class = "nondeterminism";
  failure.message =
      chunk.range.runs == 0
          ? fmt::format("two workers got different corpora for generation {}", chunk.number + 1)
          : fmt::format("two workers got different results for the runs {} to {}",
                        chunk.range.first + 1, chunk.range.end());
  failure.signature = "nondeterminism across machines";
  failure.run = failure.first_run = chunk.range.first;
  const std::string kept = fleet::PlanFolder("").result(id).substr(1);
  failure.report = fmt::format(
      "nondeterminism: {}\n  one result    {}\n  the other     {}\n  signature     {}\n",
      failure.message, kept, other, failure.signature);
  ReplayResult result;
  result.tape = other;
  result.failures.push_back(std::move(failure));
  return result;
}

/// The other results of chunks, from the folder of the plan.
std::multimap<std::string, std::string> conflicts_in(const fleet::PlanFolder& folder) {
  std::multimap<std::string, std::string> conflicts;  // By the chunk.
  std::error_code error;
  for (const auto& entry : files::directory_iterator(folder.conflicts(), error)) {
    const std::string name = entry.path().filename().string();
    conflicts.emplace(name.substr(0, name.find('.')), "conflicts/" + name);
  }
  return conflicts;
}

/// The chunks that have a result, in the order of their identities.
std::vector<fleet::ChunkId> results_in(const fleet::PlanFolder& folder) {
  std::vector<fleet::ChunkId> chunks;
  std::error_code error;
  for (const auto& digit : files::directory_iterator(folder.results(), error)) {
    for (const auto& entry : files::directory_iterator(digit.path(), error)) {
      if (const auto chunk = fleet::ChunkId::parse(entry.path().filename().string()))
        chunks.push_back(*chunk);
    }
  }
  std::sort(chunks.begin(), chunks.end());
  return chunks;
}

/// Adds the ranges of a result to those of its test, and what is new by them to `all`.
void add_ranges(const ChunkResult& result, TestTotals& own, Growth& all) {
  const std::uint64_t runs = own.counts().runs;
  const std::uint64_t kinds = own.behaviours().kinds();
  for (RangeResult& range : result.ranges()) own.add(std::move(range));
  // Every chunk may have its own failure of one signature, of which only the smallest is wanted.
  static_cast<void>(own.take_superseded());
  FERMATA_ASSERT(own.counts().runs >= runs);
  all.runs += own.counts().runs - runs;
  all.kinds -= kinds;  // Apart from what follows, since an estimate may become smaller.
  all.kinds += own.behaviours().kinds();
}

}  // namespace

std::string FleetOutcome::progress() const {
  if (is_open) return counted(done, "chunk") + " done, more until the time is over";
  return fmt::format("{} of {} done", done, counted(chunks, "chunk"));
}

std::string FleetOutcome::missing() const {
  FERMATA_ASSERT(!is_complete());
  if (is_open) return "the workers' time is not over yet";
  return fmt::format("{} of {} have no result yet", chunks - done, counted(chunks, "chunk"));
}

int FleetOutcome::exit_code() const {
  const bool is_missed = canary_done && !canary_found;
  return heavier(run.exit_code(), is_missed ? exit_code_of("obligation") : kPass);
}

bool is_canary_found(const std::vector<FailureRecord>& failures) {
  return std::any_of(failures.begin(), failures.end(), [](const FailureRecord& failure) {
    return failure.failure_class == "safety" &&
           failure.message.find("the canary") != std::string::npos;
  });
}

/// Takes the results of a plan's chunks in.
class FleetMerge {
 public:
  FleetMerge(const FleetPlan& plan, const std::string& root)
      : plan_(plan),
        folder_(root),
        results_(results_in(folder_)),
        conflicts_(conflicts_in(folder_)) {
    outcome_.run.plan = plan.exploration();
  }

  FleetOutcome merge() {
    if (plan_.fuzzes()) {
      add_generations();
    } else {
      outcome_.is_open = plan_.is_open();
      outcome_.chunks = plan_.size();
      for (std::size_t i = 0; i < plan_.size(); ++i) add(plan_.chunk(i), plan_.id(i));
      if (outcome_.is_open) outcome_.chunks = outcome_.done;
    }
    const bool is_explored = outcome_.is_complete();
    for (const std::string& test : plan_.exploration().tests) {
      TestTotals& own = totals_.try_emplace(test, true).first->second;
      if (is_explored) add_shrunk(own);
      const std::string remark = remark_of(test, own);
      outcome_.run.tests.push_back({test, std::move(own), remark});
    }
    return std::move(outcome_);
  }

 private:
  [[nodiscard]] std::string remark_of(const std::string& test, const TestTotals& totals) const {
    const auto corpus = outcome_.corpora.find(test);
    if (corpus == outcome_.corpora.end()) return totals.coverage();
    return "a corpus of " + counted(corpus->second.size(), "input");
  }

  [[nodiscard]] std::optional<ChunkResult> result_of(fleet::ChunkId id) const {
    if (!std::binary_search(results_.begin(), results_.end(), id)) return std::nullopt;
    return result_in(folder_.result(id));
  }

  /// Whether it has a result.
  bool add(const FleetChunk& chunk, fleet::ChunkId id) {
    const std::optional<ChunkResult> result = result_of(id);
    if (!result) return false;
    ++outcome_.done;
    FERMATA_ASSERT(outcome_.done <= outcome_.chunks);
    TestTotals& own = totals_.try_emplace(chunk.test, true).first->second;
    add_ranges(*result, own, growth_);
    auto [other, end] = conflicts_.equal_range(id.text());
    for (; other != end; ++other) own.add(conflict_of(chunk, id, other->second));
    if (!chunk.is_canary) {
      outcome_.growth.push_back(growth_);
      return true;
    }
    outcome_.canary_done = true;
    outcome_.canary_found = is_canary_found(own.failures());
    return true;
  }

  /// Adds what the chunks that make failures smaller have found.
  void add_shrunk(TestTotals& totals) {
    const std::vector<FailureRecord> failures = totals.failures();
    for (const FailureRecord& failure : failures) {
      if (!wants_shrinking(failure, plan_)) continue;
      ++outcome_.chunks;
      const std::optional<ChunkResult> result = result_of(shrink_id(plan_, failure));
      if (!result) continue;
      ++outcome_.done;
      for (const FailureRecord& small : parse_events(result->parts.at(0)).failures)
        totals.complete(small);
    }
  }

  void add_generations() {
    outcome_.chunks = FleetGenerations::count(plan_);
    add(plan_.chunk(0), plan_.id(0));
    FleetGenerations generations(plan_, [this](fleet::ChunkId id) { return result_of(id); });
    bool is_whole = true;  // So far.
    do {
      for (const FuzzedChunk& chunk : generations.stage())
        is_whole = add(chunk.chunk, chunk.id) && is_whole;
    } while (is_whole && generations.advance());
    if (!is_whole) return;
    for (const std::string& test : plan_.exploration().tests)
      outcome_.corpora[test] = generations.corpus(test);
  }

  const FleetPlan& plan_;
  fleet::PlanFolder folder_;
  std::vector<fleet::ChunkId> results_;
  std::multimap<std::string, std::string> conflicts_;
  std::map<std::string, TestTotals> totals_;
  Growth growth_;  // What all tests have seen together, with the few runs of the canary.
  FleetOutcome outcome_;
};

FleetOutcome merged_fleet(const FleetPlan& plan, const std::string& root) {
  return FleetMerge(plan, root).merge();
}

}  // namespace fermata::sim::cli
