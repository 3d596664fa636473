// SPDX-License-Identifier: Apache-2.0

// Simulated tests of Catch2, as its users have them; tests/end_to_end/adapters_test.cpp runs them.

#define CATCH_CONFIG_MAIN
#include <fermata/sim/adapters/catch2.hpp>

#include <string>
#include <vector>

namespace {

int deposit_in_turn() {
  int balance = 0;
  for (int i = 0; i < 2; ++i) {
    auto one = fermata::spawn("one", [&] { ++balance; });
    fermata::await(one);
  }
  return balance;
}

/// Each takes a look, and writes later.
int deposit_at_once() {
  int balance = 0;
  const auto deposit = [&] {
    const int seen = balance;
    if (fermata::random(2) == 0) fermata::suspend();
    balance = seen + 1;
  };
  auto a = fermata::spawn("a", deposit);
  auto b = fermata::spawn("b", deposit);
  fermata::await(a);
  fermata::await(b);
  return balance;
}

}  // namespace

SIM_TEST_CASE("deposits in turn are kept", "[account]") {
  CHECK(deposit_in_turn() == 2);
  CHECK_FALSE(world.now() < fermata::Instant{});
  REQUIRE_THROWS_AS(throw fermata::Error("as planned"), fermata::Error);
  CHECK_NOFAIL(1 == 2);
}

SIM_TEST_CASE("deposits, [at once] are lost", "[account]") {
  const int balance = deposit_at_once();
  INFO("what is left");
  REQUIRE(balance == 2);
}

SIM_TEST_CASE("goes on after a check", "[account]") {
  CHECK(1 == 2);
  CHECK(3 == 4);
}

SIM_TEST_CASE("throws where nothing should", "[account]") { CHECK_NOTHROW(throw 1); }

SIM_TEST_CASE("has sections", "[account]") {
  SECTION("one") {}
}

SIM_TEST_CASE("is skipped", "[account]") { world.skip("no such device"); }

TEST_CASE("is not simulated", "[account]") { CHECK(1 + 1 == 2); }

TEST_CASE("needs a name for a folder, arguments and a body", "[refused]") {
  const auto explore = [](const std::string& name, const std::vector<std::string>& arguments) {
    static_cast<void>(fermata::sim::explore_test({name, arguments}, [](fermata::sim::World&) {}));
  };
  CHECK_THROWS_WITH(explore("a/b", {"a"}),
                    Catch::Contains("explore_test: the name 'a/b' is not valid"));
  CHECK_THROWS_WITH(explore("", {"a"}), Catch::Contains("the name '' is not valid"));
  CHECK_THROWS_WITH(explore("a", {}), Catch::Contains("explore_test: 'a' has no arguments"));
}
