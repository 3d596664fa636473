// SPDX-License-Identifier: Apache-2.0

// Two tests for each law.

#include <array>

#include "fermata/base/source_place.hpp"
#include "properties/laws/law.hpp"
#include "properties/laws/law_tests.hpp"

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
    {kLimits, "Limits", "EndTheWaitsOfTheirCodeOnceAndLeaveNothing", "HoldUnderEveryStrategy"},
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
    {kSelects, "Selects", "TakeOneThingAndLeaveTheOthers", "HoldUnderEveryStrategy"},
    {kSpawns, "Spawns", "AreToldOnceAndLeaveNothingWhenRefused", "HoldUnderEveryStrategy"},
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

[[maybe_unused]] const bool kAdded = [] {
  for (const Row& row : kRows) {
    add_tests(row.law, row.suite, row.property, row.strategies, row.place);
  }
  return true;
}();

}  // namespace
}  // namespace fermata::properties
