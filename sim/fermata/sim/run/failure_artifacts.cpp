// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/failure_artifacts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/base/key.hpp"
#include "fermata/sim/base/seed.hpp"
#include "fermata/sim/base/whole_file.hpp"
#include "fermata/sim/report/report_file.hpp"
#include "fermata/sim/report/report_format.hpp"

namespace fermata::sim::detail {
namespace {

template <class F>
std::string written(const std::string& path, F write) {
  try {
    write();
    return path;
  } catch (const InputOutputError& error) {
    return std::string("not written: ") + error.what();
  }
}

/// By the seed, and where other runs have the same one by what tells them apart. Under a strategy
/// that tries one schedule after the other it is that of run 0 for all.
std::string name_of(const FoundFailure& found, const Options& options) {
  const std::string seed = seed_text(found.tape.seed);
  if (found.tape.strategy.starts_with("bytes:")) {
    return fmt::format("{}-{:x}", seed, key_of(found.tape.strategy));
  }
  const bool same_for_all =
      found.run > 0 && found.tape.seed == options.seed.value_or(Options::kDefaultSeed);
  return same_for_all ? fmt::format("{}-run{}", seed, found.run + 1) : seed;
}

}  // namespace

std::string artifact_stem(const FoundFailure& found, const Options& options) {
  FERMATA_ASSERT(!found.tape.test.empty());
  return fmt::format("{}/{}/{}", options.out, found.tape.test, name_of(found, options));
}

std::string path_of_shrunk(std::string path) {
  FERMATA_ASSERT(!path.empty());
  constexpr std::string_view kTape = ".tape";
  constexpr std::string_view kShrunk = ".shrunk";
  if (path.ends_with(kTape)) path.erase(path.size() - kTape.size());
  if (path.ends_with(kShrunk)) path.erase(path.size() - kShrunk.size());
  return path.append(kShrunk).append(kTape);
}

std::string written_tape(const Tape& tape, const std::string& path) {
  FERMATA_ASSERT(!tape.signature.empty());
  return written(path, [&] { save_tape(tape, path); });
}

void write_beside_tape(const FoundFailure& found, const std::string& stem, const Options& options,
                       ReportContext& context) {
  FERMATA_ASSERT(!stem.empty());
  if (const auto report = options.reports ? run_report(found, context) : std::nullopt) {
    const ReportFormat format = options.report_format.value_or(ReportFormat::Html);
    const std::string path = stem + std::string(extension_of(format));
    context.report_path = written(path, [&] { write_report(*report, format, path); });
  }
  // Of the smaller run, if there is one: it is the one that is explained.
  const FoundFailure& shown = context.shrunk ? context.shrunk->found : found;
  if (!shown.histories.empty()) {
    const std::string path = stem + ".histories.json";
    context.histories_path = written(path, [&] {
      write_whole_file(path, fmt::format("[{}]\n", fmt::join(shown.histories, ",\n")));
    });
  }
  if (options.trace == TraceMode::Steps) {
    std::string steps;
    for (const std::uint64_t hash : found.step_hashes) steps += seed_text(hash) + '\n';
    const std::string path = stem + ".steps";
    context.trace_path = written(path, [&] { write_whole_file(path, steps); });
  }
}

}  // namespace fermata::sim::detail
