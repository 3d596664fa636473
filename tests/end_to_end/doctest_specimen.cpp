// SPDX-License-Identifier: Apache-2.0

// Simulated tests of doctest, as its users have them; tests/end_to_end/adapters_test.cpp runs them.

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <fermata/sim/adapters/doctest.hpp>

SIM_TEST_CASE("passes in every order") {
  int runs = 0;
  auto one = fermata::spawn("one", [&] { ++runs; });
  fermata::await(one);
  FERMATA_ALWAYS(runs == 1, "it has run once");
}

SIM_TEST_CASE("fails, in one order") {
  bool first = true;
  bool overtaken = false;
  auto a = fermata::spawn("a", [&] { first = false; });
  auto b = fermata::spawn("b", [&] { overtaken = first; });
  fermata::await(a);
  fermata::await(b);
  FERMATA_ALWAYS(!overtaken, "nobody overtakes");
}

SIM_TEST_CASE("is skipped") { world.skip("no such device"); }

TEST_CASE("is not simulated") { CHECK(1 + 1 == 2); }
