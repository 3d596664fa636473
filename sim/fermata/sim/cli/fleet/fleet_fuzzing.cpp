// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/fleet/fleet_fuzzing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/io/file_system.hpp"
#include "fermata/sim/base/key.hpp"
#include "fermata/sim/base/seed.hpp"
#include "fermata/sim/fleet/patience.hpp"
#include "fermata/sim/tape/input.hpp"

namespace fermata::sim::cli {
namespace {

constexpr const char* kFolder = "fermata-out/fuzz";
/// After so many inputs that fail a chunk is done: more of them would be of the same kinds.
constexpr unsigned kFailuresOfAChunk = 4;

std::vector<std::string> names_of(const Inputs& inputs) {
  std::vector<std::string> names;
  for (const auto& one : inputs) names.push_back(one.first);
  return names;
}

FuzzInput decoded(std::string_view bytes) {
  return FuzzInput::decode({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

/// The failure that an input is which fails after others only.
FailureRecord failure_after_others(const std::string& test, const RunOptions& one,
                                   std::uint64_t run) {
  FailureRecord failure;
  failure.test = test;
  failure.failure_class = "nondeterminism";
  failure.message =
      "state leaks between runs: an input failed after others, and does not fail alone";
  failure.signature = "nondeterminism: state leaks between inputs";
  failure.run = failure.first_run = run;
  failure.seed = seed_text(one.seed);
  failure.strategy = one.strategy;
  failure.report = fmt::format("nondeterminism: {}\n  it is FERMATA_SEED={} FERMATA_STRATEGY={}\n",
                               failure.message, failure.seed, failure.strategy);
  return failure;
}

bool has_failure(const std::vector<EventFiles>& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [](const EventFiles& part) { return !parse_events(part).failures.empty(); });
}

}  // namespace

std::optional<ChunkResult> FleetFuzzing::run(const FuzzedChunk& todo, const Explore& explore,
                                             GoOn go_on) const {
  return todo.merges ? merge(todo, go_on) : fuzz(todo, explore, go_on);
}

std::optional<ChunkResult> FleetFuzzing::fuzz(const FuzzedChunk& todo, const Explore& explore,
                                              GoOn go_on) const {
  const FleetChunk& chunk = todo.chunk;
  const FuzzedProgram program{binary_, options_, [&] { go_on(); }};
  ChunkResult result{chunk.test, chunk.number, {}, {}};
  Inputs corpus = read(todo.inputs, go_on);
  Inputs found;
  std::uint64_t left = chunk.range.runs;
  const unsigned most = chunk.is_canary ? 1 : kFailuresOfAChunk;
  for (unsigned failures = 0; left > 0 && failures < most; ++failures) {
    const std::uint64_t first = chunk.range.end() - left;
    const Fuzzing fuzzing{key_of(key_of(options_.seed, chunk.test), first + failures), left};
    std::optional<Fuzzed> fuzzed = cli::fuzz(program, chunk.test, corpus, fuzzing, kFolder);
    if (!fuzzed) return std::nullopt;
    FERMATA_ASSERT(fuzzed->tried <= left);
    left -= fuzzed->tried;
    if (fuzzed->passed.events.empty()) {  // The last input has killed the process before it told.
      RangeResult passed;
      passed.counts.runs = fuzzed->tried - std::min<std::uint64_t>(fuzzed->tried, 1);
      fuzzed->passed.events = explored_line(chunk.test, passed);
    }
    result.parts.push_back(renumbered(std::move(fuzzed->passed), first));
    found.insert(fuzzed->fresh.begin(), fuzzed->fresh.end());
    corpus.merge(std::move(fuzzed->fresh));
    if (!fuzzed->failing) break;
    corpus.erase(name_of_input(*fuzzed->failing));
    const std::uint64_t run = chunk.range.end() - left - (fuzzed->tried > 0 ? 1 : 0);
    auto parts = examine(chunk.test, *fuzzed->failing, run, explore);
    if (!parts) return std::nullopt;
    for (EventFiles& part : *parts) result.parts.push_back(std::move(part));
  }
  publish(found, go_on);
  result.inputs = names_of(found);
  return result;
}

std::optional<ChunkResult> FleetFuzzing::merge(const FuzzedChunk& todo, GoOn go_on) const {
  const FuzzedProgram program{binary_, options_, [&] { go_on(); }};
  const std::optional<Inputs> kept =
      merged(program, todo.chunk.test, read(todo.inputs, go_on), kFolder);
  if (!kept) return std::nullopt;
  return ChunkResult{todo.chunk.test, todo.chunk.number, {}, names_of(*kept)};
}

/// Makes the run number `run`, of `input`, again as any other exploration is made.
std::optional<std::vector<EventFiles>> FleetFuzzing::examine(const std::string& test,
                                                             std::string_view input,
                                                             std::uint64_t run,
                                                             const Explore& explore) const {
  const FuzzInput decided = decoded(input);
  RunOptions one = options_;
  one.runs = 1;
  one.seed = decided.seed;
  one.strategy = "bytes:" + to_hex(decided.encode());
  std::optional<std::vector<EventFiles>> parts = explore(one, test, run);
  if (!parts) return std::nullopt;
  FERMATA_ASSERT(!parts->empty());
  if (!has_failure(*parts)) parts->back().events += line_of(failure_after_others(test, one, run));
  return parts;
}

Inputs FleetFuzzing::read(const InputNames& names, GoOn go_on) const {
  Inputs inputs;
  for (const std::string& name : names) {
    inputs[name] = fleet::patiently([&] { return fs::read_file(folder_.inputs() + '/' + name); });
    go_on();
  }
  return inputs;
}

void FleetFuzzing::publish(const Inputs& inputs, GoOn go_on) const {
  for (const auto& one : inputs) {
    fleet::patiently([&] { publisher_.publish(folder_.inputs(), one.first, one.second); });
    go_on();
  }
}

}  // namespace fermata::sim::cli
