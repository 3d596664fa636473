// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/history/linearizability.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "fermata/sim/history/configuration_set.hpp"
#include "fermata/sim/history/history.hpp"
#include "tests/support/recorded_history.hpp"
#include "tests/support/splitmix.hpp"

namespace fermata::sim {
namespace {

using namespace models;
using test::BruteForce;
using test::judged;
using test::random_history;
using test::Recorded;
using test::SplitMix;

using IntRegister = Register<int>;
using IntQueue = Queue<int>;

// --- beside brute force ---

/// A small history that `bytes` describe: each is a move of one of three clients.
template <class M, class MakeOperation, class MakeResult>
Recorded<M> history_of(const std::vector<std::uint8_t>& bytes, MakeOperation operation,
                       MakeResult result) {
  constexpr std::size_t kOperations = 7;
  std::array<std::optional<std::size_t>, 3> under_way;
  Recorded<M> history;
  for (std::size_t now = 0; now < bytes.size(); ++now) {
    const std::size_t client = bytes[now] % 3U;
    const std::size_t detail = bytes[now] / 3U;
    auto& mine = under_way[client];
    if (!mine && history.size() < kOperations) {
      mine = history.size();
      history.push_back({client, operation(detail), std::nullopt, now, 0});
    } else if (mine) {
      if (detail % 8 != 0) {  // Else nobody ever hears of it again.
        history[*mine].result = result(history[*mine].operation, detail);
        history[*mine].responded = now;
      }
      mine.reset();
    }
  }
  return history;
}

/// What was known of `history` before `end`.
template <class M>
Recorded<M> beginning(const Recorded<M>& history, std::size_t end) {
  Recorded<M> known;
  for (auto operation : history) {
    if (operation.invoked >= end) continue;
    if (operation.responded >= end) operation.result.reset();
    known.push_back(std::move(operation));
  }
  return known;
}

/// Whether an order explains all that came before the response of `operation`, and none explains
/// that response.
template <class M>
bool is_first_unexplained(const Recorded<M>& history, std::size_t operation) {
  const std::size_t end = history[operation].responded;
  const Recorded<M> before = beginning<M>(history, end);
  const Recorded<M> with = beginning<M>(history, end + 1);
  return BruteForce<M>(before).explains() && !BruteForce<M>(with).explains();
}

/// Judges a few thousand histories both ways.
template <class M, class MakeOperation, class MakeResult>
void compare_with_brute_force(MakeOperation operation, MakeResult result) {
  std::array<std::size_t, 2> seen{};
  const bool agreed = rc::check("both say the same", [&] {
    const auto histories = *rc::gen::container<std::vector<std::vector<std::uint8_t>>>(
        40, rc::gen::container<std::vector<std::uint8_t>>(14, rc::gen::arbitrary<std::uint8_t>()));
    for (const auto& bytes : histories) {
      const Recorded<M> history = history_of<M>(bytes, operation, result);
      const bool explained = BruteForce<M>(history).explains();
      ++seen[explained ? 1 : 0];
      const HistoryVerdict verdict = judged<M>(history);
      RC_ASSERT(verdict.answer == (explained ? Linearizability::Yes : Linearizability::No));
      if (!explained) RC_ASSERT(is_first_unexplained<M>(history, *verdict.unexplained));
    }
  });
  EXPECT_TRUE(agreed);
  EXPECT_GT(seen[0], 400u);
  EXPECT_GT(seen[1], 400u);
}

TEST(Linearizability, OfRegistersIsWhatBruteForceSays) {
  compare_with_brute_force<IntRegister>(
      [](std::size_t detail) -> IntRegister::Operation {
        const auto value = static_cast<int>(detail / 3 % 3);
        if (detail % 3 == 0) return Read{};
        if (detail % 3 == 1) return Write<int>{value};
        return CompareAndSet<int>{value, static_cast<int>(detail / 9 % 3)};
      },
      [](const IntRegister::Operation& operation, std::size_t detail) -> IntRegister::Result {
        if (std::holds_alternative<Read>(operation)) return static_cast<int>(detail % 3);
        if (std::holds_alternative<Write<int>>(operation)) return Done{};
        return detail % 2 == 0;
      });
}

TEST(Linearizability, OfQueuesIsWhatBruteForceSays) {
  compare_with_brute_force<IntQueue>(
      [](std::size_t detail) -> IntQueue::Operation {
        if (detail % 2 == 0) return Dequeue{};
        return Enqueue<int>{static_cast<int>(detail / 2 % 3)};
      },
      [](const IntQueue::Operation& operation, std::size_t detail) -> IntQueue::Result {
        if (std::holds_alternative<Enqueue<int>>(operation)) return Done{};
        std::optional<int> taken = static_cast<int>(detail % 3);
        if (detail % 4 == 0) taken.reset();
        return taken;
      });
}

TEST(Linearizability, OfLocksIsWhatBruteForceSays) {
  compare_with_brute_force<Lock>(
      [](std::size_t detail) -> Lock::Operation {
        const std::string owner(1, static_cast<char>('a' + detail / 3 % 2));
        if (detail % 3 == 0) return Acquire{owner};
        if (detail % 3 == 1) return TryAcquire{owner};
        return Release{owner};
      },
      [](const Lock::Operation& operation, std::size_t detail) -> Lock::Result {
        if (std::holds_alternative<TryAcquire>(operation)) return detail % 2 == 0;
        return Done{};
      });
}

/// What a bounded queue that may refuse for no reason would be: several outcomes.
struct MoodyRegister {
  using State = int;
  using Operation = int;  // A value to set.
  using Result = bool;    // Whether it was.

  [[nodiscard]] static State initial() { return 0; }
  [[nodiscard]] static std::vector<PossibleOutcome<State, Result>> outcomes(State state,
                                                                            Operation value) {
    if (value < state) return {{state, false}};
    return {{value, true}, {state, false}};
  }
  [[nodiscard]] static std::uint64_t hash(State state) { return static_cast<std::uint64_t>(state); }
  [[nodiscard]] static std::string text(int value) { return std::to_string(value); }
  [[nodiscard]] static std::string text(bool done) { return done ? "yes" : "no"; }
};

TEST(Linearizability, TakesModelsThatAllowSeveralThings) {
  using Moody = Recorded<MoodyRegister>;
  EXPECT_EQ(
      judged<MoodyRegister>(Moody{{0, 5, true, 0, 1}, {0, 7, false, 2, 3}, {0, 6, true, 4, 5}})
          .answer,
      Linearizability::Yes);
  EXPECT_EQ(judged<MoodyRegister>(Moody{{0, 7, true, 0, 1}, {0, 6, true, 2, 3}}).answer,
            Linearizability::No);
  // The one without an answer may have come between the two.
  EXPECT_EQ(judged<MoodyRegister>(
                Moody{{1, 7, std::nullopt, 0, 0}, {0, 6, true, 1, 2}, {0, 6, true, 3, 4}})
                .answer,
            Linearizability::Yes);
}

// --- planted violations ---

constexpr std::size_t kClients = 16;
/// How many orders of values a queue may have grows with the factorial of those put in at once.
constexpr std::size_t kClientsOfQueue = 5;
constexpr std::size_t kOperations = 300;
constexpr int kHistories = 120;

template <class M>
using Pick = std::optional<std::pair<std::size_t, std::size_t>>;

/// A pair of operations of which `fits` is true, somewhere from a drawn place on.
template <class M, class Fits>
Pick<M> pick_pair(const Recorded<M>& history, SplitMix& random, Fits fits) {
  const std::size_t offset = random.below(history.size());
  for (std::size_t i = 0; i < history.size(); ++i) {
    const std::size_t first = (i + offset) % history.size();
    for (std::size_t second = 0; second < history.size(); ++second) {
      if (fits(history[first], history[second])) return std::pair(first, second);
    }
  }
  return std::nullopt;
}

/// How many of those histories that could be spoilt were found to be.
template <class M, class MakeOperation, class Spoil>
void expect_found(std::size_t clients, MakeOperation make, Spoil spoil) {
  LinearizabilityLimits limits;
  limits.shrinking = 0;
  SplitMix random(7);
  int planted = 0;
  int found = 0;
  for (int i = 0; i < kHistories; ++i) {
    Recorded<M> history = random_history<M>(random, clients, kOperations, 40, make);
    ASSERT_EQ(judged<M>(history).answer, Linearizability::Yes);
    if (!spoil(history, random)) continue;
    ++planted;
    found += judged<M>(history, limits).answer == Linearizability::No ? 1 : 0;
  }
  EXPECT_GT(planted, kHistories / 2);
  EXPECT_GT(found * 100, planted * 99);
}

/// Reads, and writes of values that are all different.
auto register_operations() {
  return [value = 0](SplitMix& random, std::size_t) mutable -> IntRegister::Operation {
    if (random.once_in(2)) return Read{};
    return Write<int>{++value};
  };
}

bool answered_read(const test::RecordedOperation<IntRegister>& each) {
  return each.result && std::holds_alternative<Read>(each.operation);
}

const Write<int>* answered_write(const test::RecordedOperation<IntRegister>& each) {
  return each.result ? std::get_if<Write<int>>(&each.operation) : nullptr;
}

TEST(PlantedViolations, StaleReadsAreFound) {
  expect_found<IntRegister>(
      kClients, register_operations(), [](Recorded<IntRegister>& history, SplitMix& random) {
        // Between the write that is read and the read another write began and ended.
        const auto found =
            pick_pair<IntRegister>(history, random, [&](const auto& old, const auto& read) {
              if (answered_write(old) == nullptr || !answered_read(read)) return false;
              for (const auto& each : history) {
                if (answered_write(each) && old.precedes(each) && each.precedes(read)) return true;
              }
              return false;
            });
        if (!found) return false;
        history[found->second].result = answered_write(history[found->first])->value;
        return true;
      });
}

TEST(PlantedViolations, LostWritesAreFound) {
  expect_found<IntRegister>(
      kClients, register_operations(), [](Recorded<IntRegister>& history, SplitMix& random) {
        // The register is as if nothing had ever been written.
        const auto found =
            pick_pair<IntRegister>(history, random, [](const auto& write, const auto& read) {
              return answered_write(write) && answered_read(read) && write.precedes(read);
            });
        if (!found) return false;
        history[found->second].result = 0;
        return true;
      });
}

/// Takes, and puts of values that are all different; the queue has few values at a time.
auto queue_operations() {
  return [value = 0](SplitMix& random, std::size_t) mutable -> IntQueue::Operation {
    if (random.below(5) < 3) return Dequeue{};
    return Enqueue<int>{++value};
  };
}

std::optional<int> taken(const test::RecordedOperation<IntQueue>& each) {
  if (!each.result || !std::holds_alternative<Dequeue>(each.operation)) return std::nullopt;
  return std::get<std::optional<int>>(*each.result);
}

TEST(PlantedViolations, DuplicatedDequeuesAreFound) {
  expect_found<IntQueue>(
      kClientsOfQueue, queue_operations(), [](Recorded<IntQueue>& history, SplitMix& random) {
        const auto found =
            pick_pair<IntQueue>(history, random, [](const auto& one, const auto& other) {
              return taken(one) && taken(other) && one.precedes(other);
            });
        if (!found) return false;
        history[found->second].result = history[found->first].result;
        return true;
      });
}

TEST(PlantedViolations, ReorderedDequeuesAreFound) {
  expect_found<IntQueue>(
      kClientsOfQueue, queue_operations(), [](Recorded<IntQueue>& history, SplitMix& random) {
        const auto put = [&](int value) -> const test::RecordedOperation<IntQueue>& {
          for (const auto& each : history) {
            const auto* enqueue = std::get_if<Enqueue<int>>(&each.operation);
            if (enqueue != nullptr && enqueue->value == value) return each;
          }
          return history.front();
        };
        const auto found =
            pick_pair<IntQueue>(history, random, [&](const auto& one, const auto& other) {
              return taken(one) && taken(other) && one.precedes(other) &&
                     put(*taken(one)).precedes(put(*taken(other)));
            });
        if (!found) return false;
        std::swap(history[found->first].result, history[found->second].result);
        return true;
      });
}

TEST(PlantedViolations, TwoHoldersOfALockAreFound) {
  // Each client tries, and releases whether it has the lock or not.
  const auto make = [releases = std::vector<bool>(kClients)](
                        SplitMix&, std::size_t client) mutable -> Lock::Operation {
    const std::string owner = std::to_string(client);
    releases[client] = !releases[client];
    if (releases[client]) return TryAcquire{owner};
    return Release{owner};
  };
  expect_found<Lock>(kClients, make, [](Recorded<Lock>& history, SplitMix& random) {
    const auto got = [](const auto& each) {
      return each.result && std::holds_alternative<TryAcquire>(each.operation) &&
             *each.result == Lock::Result(true);
    };
    // The other's attempt is over before the holder's release begins.
    const auto found = pick_pair<Lock>(history, random, [&](const auto& holder, const auto& other) {
      if (!got(holder) || !other.result || got(other) || holder.client == other.client)
        return false;
      if (!std::holds_alternative<TryAcquire>(other.operation)) return false;
      if (!holder.precedes(other)) return false;
      for (const auto& each : history) {
        const bool same = each.client == holder.client;
        if (!same || !std::holds_alternative<Release>(each.operation)) continue;
        if (!each.result) return false;  // It may take effect in between.
        if (each.invoked > holder.invoked) return other.precedes(each);
      }
      return true;
    });
    if (!found) return false;
    history[found->second].result = true;
    return true;
  });
}

// --- size ---

TEST(Linearizability, ManyOperationsOfManyClientsTakeFewConfigurations) {
  using IntMap = Map<int, int>;
  SplitMix random(3);
  const auto history = random_history<IntMap>(
      random, kClients, 10'000, 0, [value = 0](SplitMix& draw, std::size_t) mutable {
        const auto key = static_cast<int>(draw.below(100));
        if (draw.once_in(2)) return IntMap::Operation(Get<int>{key});
        return IntMap::Operation(Put<int, int>{key, ++value});
      });
  const HistoryVerdict verdict = judged<IntMap>(history);
  EXPECT_EQ(verdict.answer, Linearizability::Yes);
  EXPECT_LT(verdict.configurations, 30'000u);
}

TEST(Linearizability, WhatNobodyHeardOfHappensOnceHoweverManyThereAre) {
  constexpr int kWrites = 130;
  for (const int seen : {1, 63, 64, 65, 66, 128, 130}) {
    Recorded<IntRegister> history;
    std::size_t now = 0;
    for (int value = 1; value <= kWrites; ++value) {
      history.push_back(
          {static_cast<std::size_t>(value), Write<int>{value}, std::nullopt, now++, 0});
    }
    const auto answered = [&](IntRegister::Operation operation, IntRegister::Result result) {
      history.push_back({0, operation, result, now, now + 1});
      now += 2;
    };
    answered(Read{}, seen);
    EXPECT_EQ(judged<IntRegister>(history).answer, Linearizability::Yes) << seen;
    answered(Write<int>{0}, Done{});
    answered(Read{}, seen);
    EXPECT_EQ(judged<IntRegister>(history, {.shrinking = 0}).answer, Linearizability::No) << seen;
  }
}

TEST(ConfigurationSet, HasBeenWhereFewerWereUsedAndNotWhereMoreWere) {
  detail::ConfigurationSet visited(1);
  const std::array<std::uint64_t, 1> here = {7};
  const auto visit = [&](std::uint64_t used) { return visited.insert(here, {{used}}); };
  EXPECT_TRUE(visit(0b011));
  EXPECT_FALSE(visit(0b011));
  EXPECT_FALSE(visit(0b111));
  EXPECT_TRUE(visit(0b001));
  EXPECT_FALSE(visit(0b011));
  EXPECT_TRUE(visit(0b100));
}

TEST(Linearizability, NobodySaysYesWhenTheLimitIsReached) {
  SplitMix random(3);
  const auto history =
      random_history<IntQueue>(random, kClientsOfQueue, 200, 0, queue_operations());
  LinearizabilityLimits limits;
  limits.configurations = 20;
  EXPECT_EQ(judged<IntQueue>(history, limits).answer, Linearizability::Undecided);
  EXPECT_EQ(judged<IntQueue>(history).answer, Linearizability::Yes);
}

}  // namespace
}  // namespace fermata::sim
