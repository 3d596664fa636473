// SPDX-License-Identifier: Apache-2.0
#pragma once

// Bugs of programs, not of the runtime: what engineers write, each with a correct twin that differs
// in the faulty lines alone. FERMATA_APPLICATION(Name) { ... } makes two simulated tests of one
// body: Buggy.Name, which exploring has to fail, and Correct.Name, which never fails.
//
// What is known of each, proved by hand, is in expected.tsv: how few decisions that are not calm
// are enough to fail, and which pair decides. expected_test.cpp tries all tapes with fewer.
//
// Calm   In production's order on a healthy network each buggy program passes.
// Ties   Where two coroutines are ready at once, and their order decides, the one whose timer was
//        armed first comes first in production. Timers are armed at times of their own, so that
//        nothing but that decision can turn the order round.

#include <cstdint>
#include <span>
#include <string_view>

#include "fermata/runtime.hpp"
#include "fermata/sim/run/sim_test.hpp"
#include "fermata/sim/world/world.hpp"

namespace fermata::properties::zoo {

enum class Variant : std::uint8_t { Buggy, Correct };

struct Application {
  std::string_view name;
  void (*body)(sim::World& world, Variant variant);
};

/// All of them, by name.
[[nodiscard]] std::span<const Application> applications();

/// Spawns coroutines that have nothing to do with the bug; they yield and wait for a while.
void spawn_bystanders(int count);

/// Adds one to applications().
struct RegisteredApplication {
  explicit RegisteredApplication(const Application& application);
};

}  // namespace fermata::properties::zoo

#define FERMATA_APPLICATION(Name)                                                     \
  static void Name##Application(::fermata::sim::World&, Variant);                     \
  SIM_TEST(Buggy, Name) { Name##Application(world, Variant::Buggy); }                 \
  SIM_TEST(Correct, Name) { Name##Application(world, Variant::Correct); }             \
  static const RegisteredApplication k##Name##Registered({#Name, Name##Application}); \
  static void Name##Application([[maybe_unused]] ::fermata::sim::World& world, Variant variant)
