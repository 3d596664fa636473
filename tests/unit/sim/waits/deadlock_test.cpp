// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/waits/deadlock.hpp"

#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fermata/sim/waits/hopeless.hpp"
#include "fermata/sim/waits/wait_report.hpp"

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

  template <class... Names>
  auto coroutines(Names... names) {
    return std::array{coroutine(names)...};
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

  /// Coroutine 'a' waits for it, and nobody else does.
  WaitGraph::Object& waited_for(const std::string& kind, const std::string& name) {
    const auto a = coroutine("a");
    const auto added = object(kind, name);
    waits(a, added);
    return graph_.objects[added];
  }

  /// The only finding.
  Finding found() const {
    const Diagnosis diagnosis = diagnose(graph_, false);
    EXPECT_EQ(diagnosis.findings.size(), 1u);
    return diagnosis.findings.empty() ? Finding{} : diagnosis.findings.front();
  }

  static WaitGraph::Deed deed(std::string who, std::string did, std::uint64_t step) {
    return {std::move(who), std::move(did), "x.cpp:9", {}, {}, step};
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
  const auto [a, b, c] = coroutines("a", "b", "c");
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
  EXPECT_EQ(ring_text(graph_, found()),
            "'a' --mutex 'to b' (held by 'b')--> 'b' --semaphore 'to c' (held by 'a')--> 'a'");
}

TEST_F(DeadlockTest, WhatIsKnownComesBeforeWhatIsLikely) {
  const auto [a, b, c] = coroutines("a", "b", "c");
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

TEST_F(DeadlockTest, NoRingGoesThroughOneThatSleeps) {
  const auto [a, b] = coroutines("a", "b");
  const auto to_b = object("mutex", "to b");
  const auto to_a = object("mutex", "to a");
  waits(a, to_b);
  waits(b, to_a);
  held(to_b, b);
  held(to_a, a);
  EXPECT_EQ(diagnose(graph_, false).kind(), WaitClass::Cycle);
  EXPECT_EQ(find_hopeless(graph_), (std::vector{a, b}));
  graph_.coroutines[b].sleeps = true;
  EXPECT_EQ(diagnose(graph_, false).kind(), WaitClass::None);
  EXPECT_TRUE(find_hopeless(graph_).empty());
}

TEST_F(DeadlockTest, NobodyIsHopelessWhileOneInWhoseHandsItIsGoesOn) {
  const auto [a, b, runner] = coroutines("a", "b", "runner");
  const auto thread = object("thread", "helper");
  const auto to_a = object("mutex", "to a");
  waits(a, thread);
  waits(b, to_a);
  held(thread, b);
  held(to_a, a);
  EXPECT_EQ(find_hopeless(graph_), (std::vector{a, b}));
  held(thread, runner);
  EXPECT_TRUE(find_hopeless(graph_).empty());
}

TEST_F(DeadlockTest, NobodyIsHopelessForWhatIsOnlyLikely) {
  const auto [a, b] = coroutines("a", "b");
  const auto permits = object("semaphore", "permits");
  const auto to_a = object("mutex", "to a");
  waits(a, permits);
  waits(b, to_a);
  held(permits, b, Certainty::Likely);
  held(to_a, a);
  EXPECT_TRUE(find_hopeless(graph_).empty());
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

// --- rings through parts ---

TEST_F(DeadlockTest, ARingGoesThroughWhatAnObjectConsistsOf) {
  const auto [a, b] = coroutines("a", "b");
  const auto outer = object("scope", "outer");
  const auto inner = object("scope", "inner");
  const auto join = object("join", "b");
  const auto mutex = object("mutex", "m");
  waits(a, outer);
  waits(b, mutex);
  graph_.objects[outer].parts = {inner};
  graph_.objects[inner].parts = {join};
  held(join, b);
  graph_.objects[mutex].holds.push_back({a, Certainty::Known, "held by", "x.cpp:3"});
  const Finding ring = found();
  ASSERT_EQ(ring.kind, WaitClass::Cycle);
  EXPECT_EQ(ring_text(graph_, ring),
            "'a' --scope 'outer': scope 'inner': join--> 'b' "
            "--mutex 'm' (held by 'a', taken at x.cpp:3)--> 'a'");
  EXPECT_EQ(ring.waiters, (std::vector<std::size_t>{a, b}));
}

TEST_F(DeadlockTest, WhatOnlyEndsAWaitIsNoPartOfARing) {
  const auto [a, b] = coroutines("a", "b");
  const auto barrier = object("barrier", "start");
  const auto token = object("mutex", "token");
  const auto mutex = object("mutex", "m");
  waits(a, barrier);
  waits(a, token);
  waits(b, mutex);
  held(token, b);
  held(mutex, a);
  EXPECT_EQ(diagnose(graph_, false).kind(), WaitClass::Cycle);
  graph_.coroutines[a].waits.back().only_ends = true;
  EXPECT_EQ(found().kind, WaitClass::Orphan);
  EXPECT_EQ(found().object, barrier);
}

TEST_F(DeadlockTest, AnEdgeThatIsNotKnownSaysWhyItIsThere) {
  const auto [a, b] = coroutines("a", "b");
  const auto channel = object("channel", "orders");
  const auto join = object("join", "a");
  graph_.objects[channel].state = "full, 1 of 1";
  waits(a, channel);
  waits(b, join);
  graph_.objects[channel].holds.push_back({b, Certainty::Likely, "could be received by", {}});
  held(join, a);
  EXPECT_EQ(ring_text(graph_, found()),
            "'a' --channel 'orders' (full, 1 of 1, could be received by 'b')--> 'b' --join--> 'a'");
}

// --- what is in nobody's hands ---

TEST_F(DeadlockTest, APartInNobodysHandsIsNamedOnceForAllWhoWait) {
  const auto [a, b] = coroutines("a", "b");
  const auto both = object("joint wait", "");
  const auto bell = object("event", "");
  graph_.objects[bell].info = "event #12";
  graph_.objects[both].parts = {bell};
  waits(a, both);
  waits(b, bell);
  const Finding finding = found();
  EXPECT_EQ(finding.kind, WaitClass::LostWakeUp);
  EXPECT_EQ(finding.text, "nobody is left to fire event #12");
  EXPECT_EQ(finding.object, bell);
  EXPECT_EQ(finding.waiters, (std::vector<std::size_t>{a, b}));
}

TEST_F(DeadlockTest, AStoppedTimerIsACancelledOne) {
  WaitGraph::Object& timer = waited_for("timer", "tick");
  EXPECT_EQ(diagnose(graph_, false).kind(), WaitClass::None);
  timer.stopped = true;
  EXPECT_EQ(found().kind, WaitClass::CancelledTimer);
  EXPECT_EQ(found().text, "timer 'tick' was stopped");
  EXPECT_FALSE(found().culprit);
  timer.ended = deed("b", "closed", 12);
  EXPECT_EQ(found().text, "timer 'tick' was closed by 'b', in step 12, at x.cpp:9");
  EXPECT_EQ(found().culprit->who, "b");
}

TEST_F(DeadlockTest, WhatNobodyCanCompleteIsAnOrphan) {
  WaitGraph::Object& future = waited_for("future", "answer");
  future.abandoned = "every promise is gone";
  EXPECT_EQ(found().kind, WaitClass::Orphan);
  EXPECT_EQ(found().text, "nobody can complete future 'answer': every promise is gone");
  future.ended = deed("nobody", "dropped", 3);
  EXPECT_EQ(found().text,
            "nobody can complete future 'answer': every promise is gone, the last one by no "
            "coroutine, in step 3, at x.cpp:9");
  EXPECT_EQ(found().culprit->did, "dropped");
}

TEST_F(DeadlockTest, TheLastOneOfThoseWhoHaveEndedIsTheCulprit) {
  WaitGraph::Object& permits = waited_for("semaphore", "permits");
  permits.former.push_back({"first", "held by", "x.cpp:1", deed("first", "ended", 20)});
  permits.former.push_back({"second", "held 2 times by", "x.cpp:2", deed("second", "failed", 30)});
  permits.former.push_back({"third", "held by", "x.cpp:3", std::nullopt});
  const Finding finding = found();
  EXPECT_EQ(finding.kind, WaitClass::LostWakeUp);
  EXPECT_EQ(finding.text,
            "semaphore 'permits' is held 2 times by 'first', 'second', 'third' since x.cpp:2, all "
            "of which have ended, the last one in step 30");
  EXPECT_EQ(finding.culprit->who, "second");
  EXPECT_EQ(finding.culprit->did, "failed");
  EXPECT_EQ(finding.culprit->step, 30u);
}

TEST_F(DeadlockTest, AChannelWithoutItsOtherSideIsAnOrphan) {
  WaitGraph::Object& channel = waited_for("channel", "orders");
  channel.former.push_back({"sender", "sends", {}, std::nullopt});
  EXPECT_EQ(found().kind, WaitClass::Orphan);
  EXPECT_EQ(found().text,
            "nobody at the other side of channel 'orders' is left: 'sender', which has ended");
}

TEST_F(DeadlockTest, AConnectionWithoutItsOtherEndIsAnOrphan) {
  waited_for("connection", "1.2.3.4:7").has_far_end = true;
  EXPECT_EQ(found().kind, WaitClass::Orphan);
  EXPECT_EQ(found().text, "nobody is at the other end of connection '1.2.3.4:7'");
}

TEST_F(DeadlockTest, WhatOthersMakeFireIsUpToThem) {
  waited_for("signal", "SIGHUP").outside = "whoever sends it";
  EXPECT_EQ(found().kind, WaitClass::Orphan);
  EXPECT_EQ(found().text,
            "signal 'SIGHUP' is up to whoever sends it, and nothing comes from there any more");
}

TEST_F(DeadlockTest, WhatOnlyItsWaitersReferToIsAnOrphan) {
  WaitGraph::Object& bell = waited_for("event", "");
  bell.info = "event #12";
  bell.only_waiters_refer = true;
  bell.woken = deed("b", "notified", 4);
  EXPECT_EQ(found().kind, WaitClass::Orphan);
  EXPECT_EQ(found().text, "nobody but its waiters refers to event #12, so nobody can fire it");
  EXPECT_EQ(found().culprit->who, "b");
}

TEST_F(DeadlockTest, WhoWokeAnotherOneIsNamed) {
  WaitGraph::Object& condition = waited_for("condition", "not empty");
  condition.woken = deed("b", "notified", 12);
  condition.woken->woke = "c";
  EXPECT_EQ(found().kind, WaitClass::LostWakeUp);
  EXPECT_EQ(found().text,
            "condition 'not empty' was last notified by 'b', in step 12, at x.cpp:9, which woke "
            "'c'; nobody is left to do it again");
}

TEST_F(DeadlockTest, WhatNobodyEverTouchedIsAnOrphan) {
  waited_for("barrier", "start");
  EXPECT_EQ(found().kind, WaitClass::Orphan);
  EXPECT_EQ(found().text, "nobody is left who could make barrier 'start' fire");
}

TEST_F(DeadlockTest, WhatFiresByItselfIsNobodysFault) {
  waited_for("file", "").passive = false;
  EXPECT_EQ(diagnose(graph_, false).kind(), WaitClass::None);
}

TEST_F(DeadlockTest, WhoIsAlwaysOvertakenStarves) {
  const auto a = coroutine("a");
  const auto mutex = object("mutex", "m");
  graph_.coroutines[a].refusals.push_back({mutex, 2, {}});
  EXPECT_EQ(diagnose(graph_, true).kind(), WaitClass::None);
  graph_.coroutines[a].refusals.front() = {mutex, 3, {"b", "c"}};
  EXPECT_EQ(diagnose(graph_, false).kind(), WaitClass::None);
  const Diagnosis diagnosis = diagnose(graph_, true);
  ASSERT_EQ(diagnosis.kind(), WaitClass::Starvation);
  EXPECT_EQ(diagnosis.findings.front().text,
            "'a' was refused mutex 'm' 3 times in a row, while it was with 'b', 'c'");
  EXPECT_EQ(diagnosis.findings.front().culprit->who, "b");
}

TEST_F(DeadlockTest, RingsComeFirstThenWhoStarvesThenTheRest) {
  waited_for("barrier", "start");
  const auto b = coroutine("b");
  graph_.coroutines[b].ready_since = 1;
  graph_.steps = 2'000;
  const auto c = coroutine("c");
  const auto mutex = object("mutex", "m");
  waits(c, mutex);
  held(mutex, c);
  std::vector<WaitClass> kinds;
  for (const Finding& each : diagnose(graph_, true).findings) kinds.push_back(each.kind);
  EXPECT_EQ(kinds, (std::vector{WaitClass::Cycle, WaitClass::Starvation, WaitClass::Orphan}));
}

// --- what is printed ---

TEST_F(DeadlockTest, TheTextTellsTheFindingsAndThenWhoWaitsForWhat) {
  WaitGraph::Object& orders = waited_for("channel", "orders");
  orders.info = "channel 'orders' (empty)";
  orders.former.push_back({"sender", "sends", {}, std::nullopt});
  WaitGraph::Coroutine& a = graph_.coroutines.front();
  a.main = true;
  a.suspended = "x.cpp:5";
  a.waits.front().wants = "receive";
  const auto timer = object("timer", "");
  graph_.objects[timer].info = "timer #3";
  waits(0, timer);
  graph_.coroutines.front().waits.back().only_ends = true;
  const auto b = coroutine("b");
  graph_.coroutines[b].spawned = "x.cpp:7";
  graph_.coroutines[b].suspended = "x.cpp:8";
  graph_.coroutines[b].zombie = true;
  const auto c = coroutine("c");
  graph_.coroutines[c].spawned = "x.cpp:1";
  graph_.coroutines[c].suspended = "x.cpp:2";
  const auto join = object("join", "b");
  const auto scope = object("scope", "workers");
  held(join, b);
  graph_.objects[scope].parts = {join};
  waits(c, scope);
  const auto ring = object("mutex", "m");
  held(ring, b, Certainty::Likely);
  waits(b, ring);
  EXPECT_EQ(wait_text(graph_, diagnose(graph_, false)),
            "cycle: 'b' --mutex 'm' (held by 'b')--> 'b'\n"
            "orphan: nobody at the other side of channel 'orders' is left: 'sender', which has "
            "ended; 'a' cannot go on\n"
            "'a' (coroutine 1) that the node began with, suspended at x.cpp:5\n"
            "  waits for channel 'orders' (empty), to receive\n"
            "  until at the latest timer #3\n"
            "'b' (coroutine 2) spawned at x.cpp:7, suspended at x.cpp:8\n"
            "  waits for mutex\n"
            "    held by 'b'\n"
            "'c' (coroutine 3) spawned at x.cpp:1, suspended at x.cpp:2\n"
            "  waits for scope\n"
            "    up to 'b', a zombie\n");
}

TEST_F(DeadlockTest, TheTextNamesTheMachineWhenThereAreSeveralOrItIsPaused) {
  waited_for("barrier", "start");
  const auto lines_of_nodes = [&] {
    const std::string text = wait_text(graph_, diagnose(graph_, false));
    return std::pair(text.find("on 'main':\n"), text.find("on 'main', paused:\n"));
  };
  constexpr auto kNowhere = std::string::npos;
  EXPECT_EQ(lines_of_nodes(), std::pair(kNowhere, kNowhere));
  graph_.nodes.front().paused = true;
  EXPECT_NE(lines_of_nodes().second, kNowhere);
  graph_.nodes = {{"main", false}, {"other", false}};
  EXPECT_NE(lines_of_nodes().first, kNowhere);
}

TEST_F(DeadlockTest, TheJsonHasTheRingAndTheCulprit) {
  const auto b = coroutine("b");
  const auto mutex = object("mutex", "m");
  waits(b, mutex);
  graph_.objects[mutex].holds.push_back({b, Certainty::Likely, "held by", "x.cpp:3"});
  const auto condition = object("condition", "c");
  const auto a = coroutine("a");
  waits(a, condition);
  graph_.objects[condition].woken = deed("z", "notified", 12);
  const auto json = nlohmann::json::parse(wait_json(graph_, diagnose(graph_, false)));
  EXPECT_EQ(json["class"], "cycle");
  EXPECT_EQ(json["findings"][0]["cycle"][0]["waits_for"][0], "mutex 'm'");
  EXPECT_EQ(json["findings"][0]["cycle"][0]["by"], "b");
  EXPECT_EQ(json["findings"][0]["cycle"][0]["since"], "x.cpp:3");
  EXPECT_EQ(json["findings"][0]["cycle"][0]["certainty"], "likely");
  EXPECT_EQ(json["findings"][1]["class"], "lost wake-up");
  EXPECT_EQ(json["findings"][1]["object"], "condition 'c'");
  EXPECT_EQ(json["findings"][1]["waiters"][0], "a");
  EXPECT_EQ(json["findings"][1]["culprit"]["who"], "z");
  EXPECT_EQ(json["findings"][1]["culprit"]["step"], 12);
}

}  // namespace
}  // namespace fermata::sim::detail
