// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/check/deadlock.hpp"

#include <gtest/gtest.h>

#include <string>

#include "fermata/sim/check/wait_report.hpp"

namespace fermata::sim::detail {
namespace {

using Certainty = WaitGraph::Certainty;

/// Coroutines 'a', 'b', 'c' ... and objects that they wait for.
class DeadlockTest : public ::testing::Test {
 protected:
  std::size_t coroutine(const std::string& name) {
    if (graph_.nodes.empty()) graph_.nodes.push_back({"main", false});
    WaitGraph::Coroutine& added = graph_.coroutines.emplace_back();
    added.name = name;
    added.id = graph_.coroutines.size();
    return graph_.coroutines.size() - 1;
  }

  std::size_t object(const std::string& kind, const std::string& name) {
    WaitGraph::Object& added = graph_.objects.emplace_back();
    added.kind = kind;
    added.name = name;
    added.info = kind;
    added.passive = true;
    return graph_.objects.size() - 1;
  }

  void waits(std::size_t coroutine, std::size_t object) {
    graph_.coroutines[coroutine].state = WaitGraph::State::Waiting;
    graph_.coroutines[coroutine].waits.push_back({object, {}, false});
  }

  void held(std::size_t object, std::size_t by, Certainty certainty = Certainty::Known) {
    graph_.objects[object].holds.push_back({by, certainty, "held by", {}});
  }

  WaitGraph graph_;
};

TEST_F(DeadlockTest, NothingIsWrongWithoutWaits) {
  coroutine("a");
  EXPECT_EQ(diagnose(graph_, false).kind(), WaitClass::None);
}

TEST_F(DeadlockTest, WhoSleepsIsNotStuck) {
  const auto a = coroutine("a");
  const auto bell = object("event", "bell");
  waits(a, bell);
  graph_.coroutines[a].sleeps = true;
  EXPECT_EQ(diagnose(graph_, false).kind(), WaitClass::None);
}

TEST_F(DeadlockTest, ARingIsAsShortAsCanBe) {
  const auto a = coroutine("a");
  const auto b = coroutine("b");
  const auto c = coroutine("c");
  const auto to_b = object("mutex", "to b");
  const auto to_c = object("semaphore", "to c");
  const auto to_a = object("mutex", "to a");
  waits(a, to_b);
  waits(b, to_c);
  waits(c, to_a);
  held(to_b, b);
  held(to_c, c);
  held(to_c, a);
  held(to_a, a);
  const Diagnosis diagnosis = diagnose(graph_, false);
  ASSERT_EQ(diagnosis.findings.size(), 1u);
  EXPECT_EQ(ring_text(graph_, diagnosis.findings.front()),
            "'a' --mutex 'to b' (held by 'b')--> 'b' --semaphore 'to c' (held by 'a')--> 'a'");
}

TEST_F(DeadlockTest, WhatIsKnownComesBeforeWhatIsLikely) {
  const auto a = coroutine("a");
  const auto b = coroutine("b");
  const auto c = coroutine("c");
  const auto shared = object("semaphore", "shared");
  const auto ab = object("mutex", "ab");
  const auto bc = object("mutex", "bc");
  waits(a, shared);
  waits(b, ab);
  waits(c, bc);
  held(shared, b, Certainty::Likely);
  held(shared, c);
  held(ab, a);
  held(bc, a);
  const Diagnosis diagnosis = diagnose(graph_, false);
  ASSERT_EQ(diagnosis.kind(), WaitClass::Cycle);
  EXPECT_EQ(diagnosis.findings.front().ring.back().coroutine, c);
}

TEST_F(DeadlockTest, WhoWaitsForNobodyButItselfIsARing) {
  const auto a = coroutine("a");
  const auto pool = object("pool", "connections");
  waits(a, pool);
  held(pool, a, Certainty::Likely);
  EXPECT_EQ(diagnose(graph_, false).kind(), WaitClass::Cycle);
}

TEST_F(DeadlockTest, WhoHasEndedWithItIsNamed) {
  const auto a = coroutine("a");
  const auto mutex = object("mutex", "m");
  waits(a, mutex);
  graph_.objects[mutex].former.push_back({"thief", "held by", "x.cpp:3", std::nullopt});
  const Diagnosis diagnosis = diagnose(graph_, false);
  ASSERT_EQ(diagnosis.kind(), WaitClass::LostWakeUp);
  EXPECT_EQ(diagnosis.findings.front().culprit->who, "thief");
  EXPECT_EQ(diagnosis.findings.front().text,
            "mutex 'm' is held by 'thief' since x.cpp:3, which has ended");
}

TEST_F(DeadlockTest, WhoIsReadyForLongStarvesOnlyInARunWithoutAnEnd) {
  const auto a = coroutine("a");
  graph_.coroutines[a].ready_since = 10;
  graph_.steps = 5'000;
  EXPECT_EQ(diagnose(graph_, false).kind(), WaitClass::None);
  const Diagnosis diagnosis = diagnose(graph_, true);
  ASSERT_EQ(diagnosis.kind(), WaitClass::Starvation);
  EXPECT_EQ(diagnosis.findings.front().text,
            "'a' has been ready since step 10 and has not run for 4990 steps");
}

}  // namespace
}  // namespace fermata::sim::detail
