// SPDX-License-Identifier: Apache-2.0
#pragma once

// SIM_TEST(Suite, Name) { ... }: a GoogleTest test whose body is explored. It runs as the main
// coroutine of a node called "main", again and again, each time with other decisions. `world` is a
// parameter of the body, a World&. The FERMATA_* variables say how (docs/environment.md).
//
// Failures   EXPECT and ASSERT, errors nobody handles, deadlocks, leaks, what the audit finds. The
//            first run that fails is run again in a fresh process, its tape is written, and the
//            test fails with a report that has one line `reproduce: ...`.
// Isolation  The body must not leave state behind for the next run.

#include <gtest/gtest.h>

#include <string>

#include "fermata/sim/run/program.hpp"
#include "fermata/sim/run/test_list.hpp"
#include "fermata/sim/world/world.hpp"

namespace fermata::sim::detail {

/// "Suite.Name" of the GoogleTest test that runs.
[[nodiscard]] std::string current_test_name();

/// Does what the process's options say with `program`, as part of the running GoogleTest test.
void run_sim_test(const Program& program);

/// Runs a simulated test that consists of a body alone.
void run_sim_test(void (*body)(World& world));

}  // namespace fermata::sim::detail

/// The test is among those that FERMATA_INTERNAL_LIST lists.
#define FERMATA_REGISTER_SIMULATED_TEST(Suite, Name)                 \
  [[maybe_unused]] static const bool Suite##_##Name##_is_simulated = \
      ::fermata::sim::detail::register_simulated_test(#Suite, #Name, __FILE__, __LINE__)

#define SIM_TEST(Suite, Name)                                                         \
  static void Suite##_##Name##_body(::fermata::sim::World&);                          \
  FERMATA_REGISTER_SIMULATED_TEST(Suite, Name);                                       \
  TEST(Suite, Name) { ::fermata::sim::detail::run_sim_test(&Suite##_##Name##_body); } \
  static void Suite##_##Name##_body([[maybe_unused]] ::fermata::sim::World& world)
