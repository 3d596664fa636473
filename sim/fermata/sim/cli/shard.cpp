// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/shard.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string_view>
#include <vector>

#include "fermata/base/error.hpp"

namespace fermata::sim::cli {
namespace {

std::uint64_t number(std::string_view text, std::string_view what) {
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size() || text.empty()) {
    throw UsageError(
        fmt::format("{}: '{}' is not a valid number; expected decimal digits", what, text));
  }
  return value;
}

Shard checked(std::uint64_t index, std::uint64_t count, std::string origin) {
  if (index >= count) {
    throw UsageError(fmt::format("{}: there is no shard {} of {}", origin, index + 1, count));
  }
  return {index, count, std::move(origin)};
}

Shard from_flag(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) {
    throw UsageError(
        fmt::format("--shard: '{}' is not a valid shard; expected i/n, such as 1/4 to 4/4", text));
  }
  const std::uint64_t index = number(std::string_view(text).substr(0, slash), "--shard");
  const std::uint64_t count = number(std::string_view(text).substr(slash + 1), "--shard");
  if (index == 0) throw UsageError("--shard: shards are counted from 1: 1/n is the first");
  return checked(index - 1, count, "--shard");
}

/// Where a scheduler says index and count, and what it counts from.
struct Pair {
  const char* index;
  const char* count;
  std::uint64_t first;
};

constexpr Pair kPairs[] = {{"GTEST_SHARD_INDEX", "GTEST_TOTAL_SHARDS", 0},
                           {"JOB_COMPLETION_INDEX", "FERMATA_SHARDS", 0},
                           {"CI_NODE_INDEX", "CI_NODE_TOTAL", 1}};

std::optional<Shard> from_pair(const Pair& pair, const Lookup& lookup) {
  const auto index = lookup(pair.index);
  const auto count = lookup(pair.count);
  if (!index && !count) return std::nullopt;
  // GitLab sets the total for every job: 1 and no index means that there are no shards.
  if (!index && number(*count, pair.count) == 1) return std::nullopt;
  if (!index || !count) {
    throw UsageError(fmt::format("{} is set and {} is not; set both, or give --shard i/n",
                                 index ? pair.index : pair.count, index ? pair.count : pair.index));
  }
  const std::uint64_t value = number(*index, pair.index);
  if (value < pair.first) {
    throw UsageError(
        fmt::format("{}: {} is too small; it counts from {}", pair.index, value, pair.first));
  }
  return checked(value - pair.first, number(*count, pair.count), pair.index);
}

std::optional<Shard> from_slurm(const Lookup& lookup) {
  constexpr const char* kId = "SLURM_ARRAY_TASK_ID";
  const auto id = lookup(kId);
  if (!id) return std::nullopt;
  const auto count = lookup("SLURM_ARRAY_TASK_COUNT");
  if (!count) throw UsageError("SLURM_ARRAY_TASK_ID is set and SLURM_ARRAY_TASK_COUNT is not");
  const std::uint64_t first =
      number(lookup("SLURM_ARRAY_TASK_MIN").value_or("0"), "SLURM_ARRAY_TASK_MIN");
  const std::uint64_t step =
      number(lookup("SLURM_ARRAY_TASK_STEP").value_or("1"), "SLURM_ARRAY_TASK_STEP");
  const std::uint64_t value = number(*id, kId);
  if (value < first || step == 0 || (value - first) % step != 0) {
    throw UsageError(
        fmt::format("{}: {} is not among the tasks that begin with {} in steps of {}; "
                    "an array has to be a range, not a list",
                    kId, value, first, step));
  }
  return checked((value - first) / step, number(*count, "SLURM_ARRAY_TASK_COUNT"), kId);
}

}  // namespace

Shard find_shard(const std::string& flag, const Lookup& lookup) {
  if (!flag.empty()) return from_flag(flag);
  std::vector<Shard> found;
  for (const Pair& pair : kPairs) {
    if (auto shard = from_pair(pair, lookup)) found.push_back(*shard);
  }
  if (auto shard = from_slurm(lookup)) found.push_back(*shard);
  if (found.empty()) return {};
  for (const Shard& other : found) {
    const Shard& shard = found.front();
    if (other.index == shard.index && other.count == shard.count) continue;
    throw UsageError(fmt::format("{} says shard {}/{} and {} says {}/{}; --shard i/n decides",
                                 shard.origin, shard.index + 1, shard.count, other.origin,
                                 other.index + 1, other.count));
  }
  return found.front();
}

}  // namespace fermata::sim::cli
