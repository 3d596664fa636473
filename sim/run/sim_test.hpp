// SPDX-License-Identifier: Apache-2.0
#pragma once

// SIM_TEST(Suite, Name) { ... }: a GoogleTest test whose body is explored. It runs as the main
// coroutine of a node called "main", again and again, each time with other decisions; `world` is in
// scope. The FERMATA_* variables say how (docs/environment.md).
//
// Failures   EXPECT and ASSERT, errors nobody handles, deadlocks, leaks, what the audit finds. The
//            first run that fails is run again in a fresh process, its tape is written, and the
//            test fails with a report that has one line `reproduce: ...`.
// Isolation  The body must not leave state behind for the next run.

#include <gtest/gtest.h>

#include <string>

#include "fermata/sim/run/runner.hpp"
#include "fermata/sim/run/test_list.hpp"
#include "fermata/sim/world/world.hpp"

namespace fermata::sim::detail {

/// What the body of a SIM_TEST is a member of.
class SimBody {
 public:
  explicit SimBody(World& w) noexcept : world(w) {}
  SimBody(const SimBody&) = delete;
  SimBody& operator=(const SimBody&) = delete;

 protected:
  ~SimBody() = default;

  World& world;
};

/// "Suite.Name" of the GoogleTest test that runs.
[[nodiscard]] std::string current_test_name();

/// Does what the process's options say with `program`, as part of the running GoogleTest test.
void run_sim_test(const Program& program);

template <class Body>
void run_sim_test() {
  Program program;
  program.body = [](World& world) { Body(world).body(); };
  run_sim_test(program);
}

}  // namespace fermata::sim::detail

/// The test is among those that FERMATA_LIST lists.
#define FERMATA_REGISTER_SIMULATED_TEST(Suite, Name)                 \
  [[maybe_unused]] static const bool Suite##_##Name##_is_simulated = \
      ::fermata::sim::detail::register_simulated_test(#Suite, #Name, __FILE__, __LINE__)

#define SIM_TEST(Suite, Name)                                                             \
  class Suite##_##Name##_SimBody final : ::fermata::sim::detail::SimBody {                \
   public:                                                                                \
    using SimBody::SimBody;                                                               \
    void body();                                                                          \
  };                                                                                      \
  FERMATA_REGISTER_SIMULATED_TEST(Suite, Name);                                           \
  TEST(Suite, Name) { ::fermata::sim::detail::run_sim_test<Suite##_##Name##_SimBody>(); } \
  void Suite##_##Name##_SimBody::body()
