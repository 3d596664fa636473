// SPDX-License-Identifier: Apache-2.0

// Two tests for each law: a property, whose scripts RapidCheck makes, shrinks and keeps on tapes,
// and the other strategies.

#include <gtest/gtest.h>

#include <array>
#include <fermata/sim_property.hpp>
#include <tuple>

#include "fermata/base/source_place.hpp"
#include "properties/laws/holds.hpp"
#include "properties/laws/law.hpp"
#include "tests/support/checks.hpp"

namespace fermata::properties {
namespace {

/// The names that the tests of a law have.
struct Row {
  constexpr Row(const Law& its_law, const char* its_suite, const char* its_property,
                const char* its_strategies, SourcePlace its_place = SourcePlace::current())
      : law(its_law),
        suite(its_suite),
        property(its_property),
        strategies(its_strategies),
        place(its_place) {}

  const Law& law;
  const char* suite;
  const char* property;
  const char* strategies;
  SourcePlace place;
};

constexpr std::array kRows = std::to_array<Row>({
    {kAwaitFamily, "AwaitFamily", "SettlesOnce", "HoldsUnderEveryStrategy"},
    {kCallbackDeletion, "CallbackDeletion", "CallsWhoIsThereAndNotRemovedOnce",
     "HoldsUnderEveryStrategy"},
    {kChannels, "Channels", "LoseNothingAndServeInTheOrderOfArrival", "HoldUnderEveryStrategy"},
    {kContexts, "Contexts", "FindTheNearestValueAndNoOther", "HoldUnderEveryStrategy"},
    {kCrashes, "Crashes", "LeaveWhatWasSynced", "HoldUnderEveryStrategy"},
    {kDatabases, "Databases", "KeepCoroutinesApart", "HoldUnderEveryStrategy"},
    {kDatagrams, "Datagrams", "ArriveWholeOrNotAtAll", "HoldUnderEveryStrategy"},
    {kDeadlock, "Deadlock", "IsReportedWhenNobodyCanGoOnAndOnlyThen", "HoldsUnderEveryStrategy"},
    {kDescriptors, "Descriptors", "CarryEveryByteAndTellWhoeverWaits", "HoldUnderEveryStrategy"},
    {kExplanations, "Explanations", "BlameWhoeverIsToBlameAndNobodyElse", "HoldUnderEveryStrategy"},
    {kFiles, "Files", "HaveWhatWasWrittenToThem", "HoldUnderEveryStrategy"},
    {kFutures, "Futures", "EndOnceAndTellEverybodyTheSame", "HoldUnderEveryStrategy"},
    {kGracefulShutdown, "GracefulShutdown", "EndsEveryCoroutineAndLeavesNothing",
     "HoldsUnderEveryStrategy"},
    {kHistories, "Histories", "AreExplainedByAnOrderOrShownToHaveNone", "HoldUnderEveryStrategy"},
    {kIteration, "Iteration", "HandsOutEachElementOnce", "HoldsUnderEveryStrategy"},
    {kLifecycle, "Lifecycle", "EndsEachCoroutineOnceAndTellsItOfCancellations",
     "HoldsUnderEveryStrategy"},
    {kLocks, "Locks", "ExcludeServeInOrderAndLoseNothing", "HoldUnderEveryStrategy"},
    {kNames, "Names", "HaveOneOutcome", "HoldUnderEveryStrategy"},
    {kOffload, "Offload", "RunsOnceAndTellsOnce", "HoldUnderEveryStrategy"},
    {kPolls, "Polls", "TellWhoeverIsConcerned", "HoldUnderEveryStrategy"},
    {kPools, "Pools", "LendEachResourceToOneAtATime", "HoldUnderEveryStrategy"},
    {kProcesses, "Processes", "EndOnceAndLeaveNothing", "HoldUnderEveryStrategy"},
    {kRecovery, "Recovery", "KeepsWhatWasConfirmed", "HoldsUnderEveryStrategy"},
    {kReferenceCounts, "ReferenceCounts", "AgreeWithWhoHoldsAndWhoStarts",
     "HoldsUnderEveryStrategy"},
    {kRemotePromises, "RemotePromises", "AreKeptOnceWhateverTheirReaderDoes",
     "HoldUnderEveryStrategy"},
    {kScopes, "Scopes", "EndFromTheBottomUp", "HoldUnderEveryStrategy"},
    {kStreams, "Streams", "LoseNoByteInSilence", "HoldUnderEveryStrategy"},
    {kSweeps, "Sweeps", "LeaveNothingAmissForTheNext", "HoldUnderEveryStrategy"},
    {kTaskGroups, "TaskGroups", "RunWithinTheirLimitAndSettleOnce", "HoldUnderEveryStrategy"},
    {kThreadChannels, "ThreadChannels", "LoseNothingAndPassNobodyOver", "HoldUnderEveryStrategy"},
    {kThreadPools, "ThreadPools", "RunEachTaskOnce", "HoldUnderEveryStrategy"},
    {kThreads, "Threads", "EndOnceAndTellEverybody", "HoldUnderEveryStrategy"},
    {kTimers, "Timers", "AreNeverEarlyAndFireInOrder", "HoldsUnderEveryStrategy"},
    {kTriggers, "Triggers", "TellOfEachFire", "HoldUnderEveryStrategy"},
    {kWaitLines, "WaitLines", "ServeInTheOrderOfArrival", "HoldUnderEveryStrategy"},
    {kWakers, "Wakers", "EndAWaitOnceAndLeaveNothingBehind", "HoldsUnderEveryStrategy"},
    {kWatches, "Watches", "TellWhatChanges", "HoldUnderEveryStrategy"},
    {kWiredDatabases, "WiredDatabases", "StopNothingThatNobodyWantsStopped",
     "HoldUnderEveryStrategy"},
});

class LawTest final : public ::testing::Test {
 public:
  LawTest(const Law& law, void (*body)(const Law&)) : law_(law), body_(body) {}
  void TestBody() override { body_(law_); }

 private:
  const Law& law_;
  void (*body_)(const Law&);
};

void expect_property(const Law& law) {
  sim::detail::run_sim_property(rc::gen::tuple(law.scenarios()),
                                [](sim::World& world, const std::tuple<Scenario>& scenario) {
                                  std::get<Scenario>(scenario).play(world);
                                });
}

void expect_other_strategies(const Law& law) {
  ASSERT_TRUE(holds_under_other_strategies(law));
  for (const char* id : law.invariants) testing::note_checked(id);
}

void add_test(const Row& row, const char* name, void (*body)(const Law&)) {
  const int line = static_cast<int>(row.place.line);
  ::testing::RegisterTest(
      row.suite, name, nullptr, nullptr, row.place.file, line,
      [&law = row.law, body]() -> ::testing::Test* { return new LawTest(law, body); });
}

[[maybe_unused]] const bool kAdded = [] {
  for (const Row& row : kRows) {
    sim::detail::register_simulated_test(row.suite, row.property, row.place.file,
                                         static_cast<int>(row.place.line));
    add_test(row, row.property, &expect_property);
    add_test(row, row.strategies, &expect_other_strategies);
  }
  return true;
}();

}  // namespace
}  // namespace fermata::properties
