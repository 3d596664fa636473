// SPDX-License-Identifier: Apache-2.0
#pragma once

// Simulated tests in doctest:
//
//   #include <fermata/sim/adapters/doctest.hpp>
//   SIM_TEST_CASE("deposits are not lost") { ...; FERMATA_ALWAYS(balance == 2, "both are there"); }
//
// The body is explored as that of a SIM_TEST is; `world` is in scope. It fails a run by
// FERMATA_ALWAYS and its relatives, or by an exception. doctest's own assertions do not belong in
// it: nothing can take their results, and each of a thousand runs would report its own. A program
// of such tests needs doctest's main(). The tool `fermata` does not know them: the program reads
// the FERMATA_* variables itself, and prints what repeats a failure.

#include <doctest/doctest.h>

#include <string>

#include "fermata/core/assertions.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sim/run/framework_test.hpp"
#include "fermata/sim/world/world.hpp"
#include "fermata/sync/await.hpp"

namespace fermata::sim::adapters {

/// The argument with which a program runs the test case `name` alone.
inline std::string doctest_filter(const std::string& name) {
  std::string filter = "--test-case=";
  for (const char letter : name) {
    if (letter == ',' || letter == '\\') filter += '\\';
    filter += letter;
  }
  return filter;
}

inline FrameworkResult explore_doctest_test(const char* name, void (*body)(World& world)) {
  return explore_test({name, {doctest_filter(name)}}, body);
}

}  // namespace fermata::sim::adapters

#define FERMATA_DOCTEST_TEST_CASE(body, name)                                        \
  static void body(::fermata::sim::World&);                                          \
  TEST_CASE(name) {                                                                  \
    const auto result = ::fermata::sim::adapters::explore_doctest_test(name, &body); \
    if (!result.failure.empty()) FAIL(result.failure);                               \
    if (!result.skip_reason.empty()) MESSAGE("skipped: ", result.skip_reason);       \
  }                                                                                  \
  static void body([[maybe_unused]] ::fermata::sim::World& world)

#define SIM_TEST_CASE(name) FERMATA_DOCTEST_TEST_CASE(DOCTEST_ANONYMOUS(fermata_simulated_), name)
