// SPDX-License-Identifier: Apache-2.0

// What programs do to Fermata's own objects without waiting, dfs knows by itself: the number of
// classes is the one counted by hand, and no outcome is missed.

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "fermata/runtime.hpp"
#include "fermata/sim.hpp"
#include "fermata/sim/run/explore.hpp"
#include "fermata/sim/tape/random.hpp"

namespace fermata::sim {
namespace {

using Body = std::function<void(World&)>;

ExploreResult search(const Body& body, bool keep_going = false) {
  ExploreOptions options;
  options.strategy = "dfs";
  options.runs = 1'000'000;
  options.check_determinism = 0;
  options.keep_going = keep_going;
  return explore(options, body);
}

std::string classes(std::uint64_t count) {
  return "all " + std::to_string(count) +
         " classes of schedules; the world was held calm, without faults";
}

/// Runs `count` coroutines of two steps each; in the first step each calls `use` with its number,
/// on what `make` made for the run. Their ends come in any order, which multiplies the classes.
template <class Shared>
std::string coverage_of(std::size_t count, std::function<Shared()> make,
                        std::function<void(Shared&, std::size_t)> use) {
  const auto body = [=](World& world) {
    world.sharing_is_announced();
    Shared shared = make();
    std::vector<Coroutine<>> all;
    for (std::size_t task = 0; task < count; ++task) {
      all.push_back(spawn(std::to_string(task), [&shared, &use, task] {
        use(shared, task);
        suspend();
      }));
    }
    when_all_settled(all);
  };
  return search(body).coverage;
}

template <class Shared>
using Made = std::unique_ptr<Shared>;

TEST(ClassesOfPrimitives, AFreeMutexIsTakenInEveryOrder) {
  EXPECT_EQ(coverage_of<Made<Mutex>>(
                3, [] { return std::make_unique<Mutex>(); },
                [](Made<Mutex>& mutex, std::size_t) { const Mutex::Guard guard(*mutex); }),
            classes(6 * 6));
}

TEST(ClassesOfPrimitives, MutexesOfTheirOwnAreIndependent) {
  struct Two {
    Mutex left;
    Mutex right;
  };
  // Two and two: 2! * 2! orders of the locks, 4! of the ends.
  EXPECT_EQ(coverage_of<Made<Two>>(
                4, [] { return std::make_unique<Two>(); },
                [](Made<Two>& two, std::size_t task) {
                  const Mutex::Guard guard(task < 2 ? two->left : two->right);
                }),
            classes(4 * 24));
}

// With `a` and `b`: a locks, a unlocks, b locks, b unlocks; or b comes while a holds it. And both
// the other way round.
TEST(ClassesOfPrimitives, AMutexThatIsHeldAcrossAWait) {
  const auto body = [](World& world) {
    world.sharing_is_announced();
    Mutex mutex;
    const auto use = [&] {
      const Mutex::Guard guard(mutex);
      suspend();
    };
    std::vector<Coroutine<>> all = {spawn("a", use), spawn("b", use)};
    when_all_settled(all);
  };
  EXPECT_EQ(search(body).coverage, classes(4));
}

TEST(ClassesOfPrimitives, AChannelWithRoomIsFilledInEveryOrder) {
  using Shared = Channel<std::size_t>;
  const auto make = [] { return Shared("values", 3); };
  EXPECT_EQ(
      coverage_of<Shared>(3, make, [](Shared& channel, std::size_t task) { channel.send(task); }),
      classes(6 * 6));
  EXPECT_EQ(
      coverage_of<Shared>(
          3, make, [](Shared& channel, std::size_t) { static_cast<void>(channel.try_recv()); }),
      classes(6 * 6));
}

TEST(ClassesOfPrimitives, ChannelsOfTheirOwnAreIndependent) {
  using Shared = std::vector<Channel<std::size_t>>;
  const auto make = [] {
    Shared all;
    for (int i = 0; i < 4; ++i) all.push_back(Channel<std::size_t>("own", 1));
    return all;
  };
  EXPECT_EQ(
      coverage_of<Shared>(4, make, [](Shared& all, std::size_t task) { all[task].send(task); }),
      classes(24));
}

TEST(ClassesOfPrimitives, PermitsThatAreThereAreTakenInEveryOrder) {
  EXPECT_EQ(coverage_of<Made<Semaphore>>(
                3, [] { return std::make_unique<Semaphore>(3); },
                [](Made<Semaphore>& permits, std::size_t) { permits->acquire(); }),
            classes(6 * 6));
}

TEST(ClassesOfPrimitives, WhatIsDoneOnceIsDoneByAnyOfThem) {
  EXPECT_EQ(coverage_of<Made<Once>>(
                3, [] { return std::make_unique<Once>(); },
                [](Made<Once>& once, std::size_t) { once->call([] {}); }),
            classes(6 * 6));
}

TEST(ClassesOfPrimitives, NobodyMayHearANotify) {
  EXPECT_EQ(coverage_of<Made<Condition>>(
                3, [] { return std::make_unique<Condition>(); },
                [](Made<Condition>& condition, std::size_t) { condition->notify_all(); }),
            classes(6 * 6));
}

TEST(ClassesOfPrimitives, APromiseIsKeptByAnyOfThem) {
  EXPECT_EQ(
      coverage_of<Promise<int>>(
          3,
          [] {
            Promise<int> promise;
            promise.ignore();
            return promise;
          },
          [](Promise<int>& promise, std::size_t) { static_cast<void>(promise.try_complete(1)); }),
      classes(6 * 6));
}

// `b` asks before, between and after the two steps of `a`; when it asks before the last of them,
// both orders of the ends are left.
TEST(ClassesOfPrimitives, WhetherACoroutineHasEndedIsAsked) {
  const auto body = [](World& world) {
    world.sharing_is_announced();
    std::vector<Coroutine<>> all = {spawn("a", [] { suspend(); })};
    all.push_back(spawn("b", [&] {
      static_cast<void>(all[0]->is_completed());
      suspend();
    }));
    when_all_settled(all);
  };
  EXPECT_EQ(search(body).coverage, classes(5));
}

// A pool's hooks and resources are the program's: nothing is left out beside one.
TEST(ClassesOfPrimitives, NothingIsLeftOutBesideAPool) {
  const auto body = [](bool announced) {
    return [announced](World& world) {
      if (announced) world.sharing_is_announced();
      Pool<int> pool("numbers", {.factory = [] { return std::optional(1); }, .max = 2});
      const auto use = [&] {
        const Lease<int> lease = pool.acquire();
        suspend();
      };
      std::vector<Coroutine<>> all = {spawn("a", use), spawn("b", use)};
      when_all_settled(all);
    };
  };
  EXPECT_EQ(search(body(true)).distinct_runs, search(body(false)).distinct_runs);
}

// --- generated programs ---

struct Shared {
  Mutex mutexes[2];
  Semaphore permits{1};
  Channel<std::uint64_t> narrow{"narrow", 1};
  Channel<std::uint64_t> meeting{"meeting", 0};
  Condition changed;
  Once once;
  Promise<std::uint64_t> promise;
};

/// What one coroutine has seen, also of a run that has ended in a deadlock.
class Seen {
 public:
  explicit Seen(std::function<void(std::uint64_t)> tell) : tell_(std::move(tell)) {}
  Seen(const Seen&) = delete;
  Seen& operator=(const Seen&) = delete;
  ~Seen() { tell_(key_of(key_of(of[0], of[1]), of[2])); }

  void add(std::size_t task, std::uint64_t what) { of[task] = key_of(of[task], what); }

 private:
  std::uint64_t of[3] = {};
  std::function<void(std::uint64_t)> tell_;
};

constexpr std::uint64_t kOperations = 14;

std::uint64_t value_or(const std::optional<std::uint64_t>& value) { return value.value_or(99); }

/// One operation on the shared objects; gives what the caller learns from it.
std::uint64_t act(Shared& shared, std::uint64_t operation, std::uint64_t task) {
  switch (operation) {
    case 0:
    case 1: {
      const Mutex::Guard guard(shared.mutexes[operation]);
      suspend();
      return 0;
    }
    case 2: {
      const Mutex::Guard first(shared.mutexes[task % 2]);
      const Mutex::Guard second(shared.mutexes[1 - task % 2]);
      suspend();
      return 0;
    }
    case 3:
      if (!shared.mutexes[0].try_lock()) return 0;
      suspend();
      shared.mutexes[0].unlock();
      return 1;
    case 4:
      return shared.mutexes[1].is_locked();
    case 5:
      shared.permits.acquire();
      suspend();
      shared.permits.release();
      return 0;
    case 6:
      return shared.permits.available();
    case 7:
      return shared.narrow.try_send(task);
    case 8:
      return value_or(shared.narrow.try_recv());
    case 9:
      shared.narrow.send(task);
      return shared.narrow.count();
    case 10:
      return task == 0 ? shared.meeting.recv() : std::uint64_t{shared.meeting.try_send(task)};
    case 11: {
      std::uint64_t mine = 0;
      shared.once.call([&] {
        suspend();
        mine = 1;
      });
      return mine;
    }
    case 12:
      if (!shared.promise.try_complete(task)) return await(shared.promise.future());
      return 9;
    default:
      shared.changed.notify_one();
      return shared.promise.is_completed();
  }
}

/// Three coroutines that do what `seed` has.
Body made_up(std::uint64_t seed, bool announced, std::function<void(std::uint64_t)> outcome) {
  return [=](World& world) {
    if (announced) world.sharing_is_announced();
    Random random(seed);
    Shared shared;
    shared.promise.ignore();
    Seen seen(outcome);
    std::vector<Coroutine<>> all;
    for (std::size_t task = 0; task < 3; ++task) {
      std::vector<std::uint64_t> operations(random.below(3) == 0 ? 2 : 1);
      for (std::uint64_t& operation : operations) operation = random.below(kOperations);
      all.push_back(spawn(std::to_string(task), [&, task, operations] {
        for (std::size_t i = 0; i < operations.size(); ++i) {
          if (i > 0) suspend();
          seen.add(task, act(shared, operations[i], task));
          if (task > 0) seen.add(task, all[task - 1]->is_completed());
        }
      }));
    }
    when_all_settled(all);
    for (std::size_t task = 0; task < 3; ++task) seen.add(task, 1);
  };
}

TEST(ClassesOfPrimitives, MissNoOutcomeAndNoDeadlock) {
  std::uint64_t left_out = 0;
  std::uint64_t deadlocks = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    std::set<std::uint64_t> everything;
    std::set<std::uint64_t> reduced;
    const ExploreResult whole =
        search(made_up(seed, false, [&](std::uint64_t one) { everything.insert(one); }), true);
    const ExploreResult fewer =
        search(made_up(seed, true, [&](std::uint64_t one) { reduced.insert(one); }), true);
    EXPECT_EQ(reduced, everything) << seed;
    EXPECT_EQ(fewer.found.has_value(), whole.found.has_value()) << seed;
    EXPECT_TRUE(whole.coverage.starts_with("all ")) << whole.coverage;
    EXPECT_TRUE(fewer.coverage.starts_with("all ")) << fewer.coverage;
    left_out += whole.runs - fewer.runs;
    deadlocks += whole.found.has_value();
  }
  EXPECT_GT(left_out, 1'000u);
  EXPECT_GT(deadlocks, 5u);
}

}  // namespace
}  // namespace fermata::sim
