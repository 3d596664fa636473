// SPDX-License-Identifier: Apache-2.0

// The assertions of a program in simulation: which failure they become, what is counted.

#include <gtest/gtest.h>

#include <fermata/runtime.hpp>
#include <fermata/sim.hpp>
#include <fermata/sim/run/explore.hpp>

#include <functional>
#include <optional>
#include <string>

#include "fermata/sim/record/catalogue.hpp"
#include "fermata/sim/world/world_access.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;

ExploreResult explored(const std::function<void(World&)>& body, std::uint64_t runs = 20) {
  ExploreOptions options;
  options.name = "Some.Test";
  options.runs = runs;
  options.check_determinism = 4;
  return explore(options, body);
}

Failure failure_of(const std::function<void(World&)>& body) {
  const ExploreResult result = explored(body);
  return result.found ? result.found->failure
                      : Failure{.verdict = Verdict::Missed, .message = "none"};
}

Claim claim_of(const Catalogue& catalogue, const std::string& message) {
  for (const Claim& claim : catalogue.claims()) {
    if (claim.message == message) return claim;
  }
  ADD_FAILURE() << "no claim '" << message << "'";
  return {};
}

// --- what must hold ---

TEST(SimAssertions, AlwaysIsSafety) {
  const Failure failure = failure_of([](World&) {
    spawn("seller", [] {
      delay(5ms);
      const int left = -3;
      FERMATA_ALWAYS(left >= 0, "no more than 7 are sold", "left", left);
      ADD_FAILURE() << "the coroutine goes on";
    });
  });
  EXPECT_EQ(failure.verdict, Verdict::Safety);
  EXPECT_EQ(failure.signature(), "safety: always: no more than # are sold");
  EXPECT_EQ(failure.coroutine, "seller");
  EXPECT_NE(failure.explanation.find("condition: left >= 0\nvalues:    left = -3\nplace:     "),
            std::string::npos)
      << failure.explanation;
}

TEST(SimAssertions, NumbersAreTold) {
  const Failure failure = failure_of([](World&) {
    FERMATA_ALWAYS_LE(random(1), 0, "one");
    FERMATA_ALWAYS_LT(random(1), 0, "no number is below zero");
  });
  EXPECT_EQ(failure.signature(), "safety: always: no number is below zero");
  EXPECT_NE(failure.explanation.find("left = 0, right = 0"), std::string::npos);
}

TEST(SimAssertions, UnreachableIsSafety) {
  EXPECT_EQ(failure_of([](World&) { FERMATA_UNREACHABLE("here"); }).signature(),
            "safety: unreachable: here");
}

TEST(SimAssertions, AHandlerOfErrorsDoesNotHideAFailure) {
  EXPECT_EQ(failure_of([](World&) {
              try {
                FERMATA_ALWAYS(false, "swallowed");
              } catch (const std::exception&) {
              }
              delay(1h);
            }).signature(),
            "safety: always: swallowed");
}

TEST(SimAssertions, WhatIsUnwoundIsNotJudged) {
  struct Careless {
    ~Careless() { FERMATA_ALWAYS(false, "in a destructor"); }
  };
  EXPECT_EQ(failure_of([](World& world) {
              spawn("unwound", [] {
                const Careless careless;
                delay(1h);
              });
              delay(1ms);
              world.fail(Verdict::Safety, "as planned");
            }).signature(),
            "safety: as planned");
  EXPECT_EQ(failure_of([](World& world) {
              Node& victim = world.node("victim", [] {
                const Careless careless;
                FERMATA_EVENTUALLY(1ms, false, "of one who is down");
                delay(1h);
              });
              suspend();
              victim.crash();
            }).signature(),
            "missed: none");
}

TEST(SimAssertions, OutsideOfNodesTheyFailAllTheSame) {
  const Failure failure = failure_of([](World& world) {
    world.at(1ms, [] { FERMATA_ALWAYS(false, "in an action"); });
    delay(1s);
  });
  EXPECT_EQ(failure.verdict, Verdict::Safety);
  EXPECT_NE(failure.message.find("in an action"), std::string::npos) << failure.message;
}

// --- what must come ---

TEST(SimAssertions, EventuallyIsLivenessWhenItComesTooLate) {
  const Failure failure = failure_of([](World&) {
    bool done = false;
    FERMATA_EVENTUALLY(5s, done, "it is done");
    auto worker = spawn("worker", [&] {
      delay(6s);
      done = true;
    });
    await(worker);
  });
  EXPECT_EQ(failure.verdict, Verdict::Liveness);
  EXPECT_EQ(failure.signature(), "liveness: eventually: it is done");
  EXPECT_NE(failure.explanation.find("never held within 5000 ms\ncondition: done"),
            std::string::npos)
      << failure.explanation;
}

TEST(SimAssertions, EventuallyIsLivenessWhenItsScopeIsLeftBefore) {
  const Failure failure = failure_of([](World&) {
    FERMATA_EVENTUALLY(5s, false, "it is done");
    suspend();
  });
  EXPECT_EQ(failure.signature(), "liveness: eventually: it is done");
  EXPECT_NE(failure.explanation.find("before its scope was left"), std::string::npos);
}

TEST(SimAssertions, EventuallyNeedsToHoldOnceOnly) {
  EXPECT_EQ(failure_of([](World& world) {
              bool done = false;
              world.node("other", [&] {
                delay(4s);
                done = true;
                suspend();
                done = false;
              });
              FERMATA_EVENTUALLY(10s, done, "it is done by another machine");
              delay(10s);
              delay(10s);
            }).signature(),
            "missed: none");
}

TEST(SimAssertions, EventuallyAsksNothingOfAScopeThatFails) {
  EXPECT_EQ(failure_of([](World&) {
              try {
                FERMATA_EVENTUALLY(1s, false, "never");
                throw Error("as planned");
              } catch (const Error&) {
              }
            }).signature(),
            "missed: none");
}

TEST(SimAssertions, AConditionThatThrowsIsSafety) {
  const Failure failure = failure_of([](World&) {
    const auto ask = []() -> bool { throw Error("as planned"); };
    FERMATA_EVENTUALLY(1s, ask(), "thrown");
    delay(1ms);
  });
  EXPECT_EQ(failure.signature(), "safety: eventually: thrown");
  EXPECT_NE(failure.explanation.find("as planned"), std::string::npos) << failure.explanation;
}

// --- what is counted ---

TEST(SimAssertions, AreCountedOverAnExploration) {
  const ExploreResult result = explored(
      [](World&) {
        const std::uint64_t drawn = random(8);
        FERMATA_SOMETIMES(drawn == 3, "a three is drawn");
        FERMATA_SOMETIMES_GE(drawn, 9, "a nine is drawn");
        FERMATA_ALWAYS_LE(drawn, 9, "at most a nine is drawn");
      },
      200);
  ASSERT_FALSE(result.found);
  const Claim three = claim_of(result.catalogue, "a three is drawn");
  EXPECT_EQ(three.counts.reached, 200u);
  EXPECT_GT(three.counts.held, 0u);
  EXPECT_LT(three.counts.held, 200u);
  const Claim nine = claim_of(result.catalogue, "a nine is drawn");
  EXPECT_TRUE(nine.is_missed());
  EXPECT_EQ(nine.counts.most, -2);
  EXPECT_NE(nine.text().find("reached 200 times, held 0 times, 2 short at best"), std::string::npos)
      << nine.text();
  const Claim most = claim_of(result.catalogue, "at most a nine is drawn");
  EXPECT_FALSE(most.is_obligation());
  EXPECT_NE(most.text().find("2 to spare at worst"), std::string::npos) << most.text();
}

TEST(SimAssertions, ARunThatIsLookedAtCloselyCountsOnce) {
  ExploreOptions options;
  options.name = "Some.Test";
  options.runs = 12;
  options.check_determinism = 4;
  options.keep_going = true;
  const ExploreResult result = explore(options, [](World& world) {
    FERMATA_REACHABLE("each run comes here once");
    for (std::uint64_t i = random(5); i > 0; --i) suspend();
    world.fail(Verdict::Safety, "as planned");
  });
  EXPECT_EQ(result.failures, 12u);
  EXPECT_EQ(claim_of(result.catalogue, "each run comes here once").counts.reached, 12u);
}

void nobody_calls_this() { FERMATA_REACHABLE("nobody comes here"); }

TEST(SimAssertions, AreKnownThoughNoRunComesToThem) {
  if (false) nobody_calls_this();
  const ExploreResult result = explored([](World&) {}, 1);
  const Claim claim = claim_of(result.catalogue, "nobody comes here");
  EXPECT_TRUE(claim.is_missed());
  EXPECT_NE(claim.text().find(": never reached"), std::string::npos) << claim.text();
}

TEST(SimAssertions, CountersAreWithinReachOfASearch) {
  std::uint32_t index = 0;
  for (const backend::AssertionSite* site = backend::assertion_sites(); site != nullptr;
       site = site->next) {
    if (std::string(site->message) == "counted as it happens") index = site->index;
  }
  explored([&](World& world) {
    const auto held = [&] {
      const auto counts = detail::WorldAccess(world).assertion_counts();
      return index < counts.size() ? counts[index].held : 0;
    };
    const std::uint64_t before = held();
    FERMATA_SOMETIMES(true, "counted as it happens");
    EXPECT_EQ(held(), before + 1);
  });
}

TEST(SimAssertions, LeaveTheRunAsItIs) {
  const auto hash_of = [](bool assertions) {
    return explored([assertions](World&) {
             if (assertions) {
               FERMATA_ALWAYS(true, "no trace of this");
               FERMATA_SOMETIMES(true, "nor of this");
               FERMATA_EVENTUALLY(1s, true, "nor of that");
               suspend();
             } else {
               suspend();
             }
           })
        .trace_hash;
  };
  EXPECT_EQ(hash_of(true), hash_of(false));
}

}  // namespace
}  // namespace fermata::sim
