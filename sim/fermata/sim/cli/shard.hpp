// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which part of an exploration this process has, when several machines share it.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace fermata::sim::cli {

struct Shard {
  std::uint64_t index = 0;  // Counted from 0.
  std::uint64_t count = 1;
  /// Where it is from, for people; empty when nothing has said that there are shards.
  std::string origin;

  [[nodiscard]] bool has(std::uint64_t number) const noexcept { return number % count == index; }
};

/// The value of an environment variable, if it is set.
using Lookup = std::function<std::optional<std::string>(const char* name)>;

/// From `flag` ("i/n", i counted from 1; may be empty), else from what a scheduler has set:
/// GTEST_SHARD_INDEX and GTEST_TOTAL_SHARDS, Slurm's array variables, JOB_COMPLETION_INDEX with
/// FERMATA_SHARDS, CI_NODE_INDEX and CI_NODE_TOTAL. Throws UsageError when two of those disagree,
/// or one is incomplete or out of range.
[[nodiscard]] Shard find_shard(const std::string& flag, const Lookup& lookup);

}  // namespace fermata::sim::cli
