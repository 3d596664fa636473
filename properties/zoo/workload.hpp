// SPDX-License-Identifier: Apache-2.0
#pragma once

// The smallest program in which one bug of the zoo shows, among bystanders. It says itself what is
// wrong, by the invariant that the bug breaks: a crash or an unexplained hang does not count.

#include <span>
#include <string_view>
#include <vector>

#include "fermata/sim/run/runner.hpp"
#include "fermata/sim/world/world.hpp"

namespace fermata::properties::zoo {

struct Workload {
  /// The entry of the zoo, "Z-CB-01"; its patch says what the bug is.
  std::string_view mutant;
  /// How many orderings must hold at once; from 2 on the calm run must not show the bug.
  int depth = 1;
  /// Found when the failure's message has one of these: what the entry breaks, and the ids of the
  /// rules that say so.
  std::vector<std::string_view> breaks;
  void (*body)(sim::World& world);
};

/// All of them, by name.
[[nodiscard]] std::span<const Workload> workloads();

/// Adds one to workloads().
struct RegisteredWorkload {
  explicit RegisteredWorkload(Workload workload);
};

/// The workload among bystanders that follow from the seed.
[[nodiscard]] sim::Program exploration_of(const Workload& workload);

/// Whether `message` says that something is broken which `workload`'s mutant breaks.
[[nodiscard]] bool is_about(const Workload& workload, std::string_view message);

}  // namespace fermata::properties::zoo

/// FERMATA_WORKLOAD(name, "Z-CB-01", depth, breaks...) { body, which has `world` }
#define FERMATA_WORKLOAD(name, mutant, depth, ...)                                          \
  static void name(::fermata::sim::World& world);                                           \
  static const RegisteredWorkload name##_registered({mutant, depth, {__VA_ARGS__}, &name}); \
  static void name([[maybe_unused]] ::fermata::sim::World& world)
