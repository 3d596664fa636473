// SPDX-License-Identifier: Apache-2.0

// What the bodies of SIM_TEST and SIM_PROPERTY may do with their world.

#include <fermata/runtime.hpp>
#include <fermata/sim_property.hpp>

#include <string>

namespace fermata::testing {
namespace {

using namespace std::chrono_literals;

/// Takes a second to stop.
void stop_slowly() {
  try {
    delay(24h);
  } catch (const Cancellation&) {
    protect([] { delay(1s); });
    throw;
  }
}

SIM_TEST(Body, HandsItsWorldToLambdas) {
  bool healed = false;
  world.at(1ms, [&world, &healed] {
    world.heal();
    healed = true;
  });
  sim::Node& other =
      world.node("other", [&world] { EXPECT_EQ(world.node("main").name(), "main"); });
  delay(1s);
  EXPECT_TRUE(healed);
  world.run();
  EXPECT_FALSE(other.is_up());
}

SIM_TEST(Body, MayPlanActionsOnItsOwnVariables) {
  world.service("slow to stop", &stop_slowly);
  std::string written(100, '.');
  const struct Witness {
    std::string& text;
    ~Witness() {
      EXPECT_EQ(text.front(), '.');
      text = "gone";
    }
  } witness{written};
  world.at(500ms, [&] { ADD_FAILURE() << "an action after the body: " << written; });
  delay(10ms);
}

SIM_PROPERTY(Body, HasAWorldBesideItsArguments, (int number, const std::string& text)) {
  bool in_time = false;
  world.at(1ms, [&] { in_time = world.now() >= Instant{} + 1ms; });
  delay(2ms);
  EXPECT_TRUE(in_time) << number << text;
}

SIM_PROPERTY(Body, MayLeaveItsWorldAlone, (bool flag)) { EXPECT_TRUE(flag || !flag); }

}  // namespace
}  // namespace fermata::testing
