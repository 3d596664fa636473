// SPDX-License-Identifier: Apache-2.0

// Destructors that wait, on every way out of a coroutine: each runs to its end, no cancellation is
// seen inside, and the first suspension point after it delivers what came meanwhile.

#include <array>
#include <chrono>
#include <fermata/sim.hpp>
#include <memory>
#include <vector>

#include "fermata/runtime.hpp"

namespace fermata::properties {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kActors = 4;

/// How the program ends, beside what its coroutines do.
enum class End : std::uint8_t { OfItself, ScopeEnd, Shutdown, ShutdownByForce, Crash };

/// What has happened to the destructors of one program; it outlives that.
struct Ledger {
  int made = 0;
  int begun = 0;
  int ended = 0;
  int disturbed = 0;  // By an exception that is not their own.
  int late = 0;       // Cancellations that were not delivered at once.

  void check(End end) const {
    EXPECT_EQ(begun, made) << "a destructor was not called";
    EXPECT_EQ(ended, begun) << "a destructor has not come to its end";
    EXPECT_EQ(disturbed, 0) << "an exception came out of a wait in a destructor";
    EXPECT_EQ(end == End::Crash ? 0 : late, 0) << "a cancellation got lost in a destructor";
  }
};

/// What the destructors of all actors use.
struct House {
  House(std::shared_ptr<Ledger> of, bool ends_by_force)
      : ledger(std::move(of)), by_force(ends_by_force) {}

  std::shared_ptr<Ledger> ledger;
  bool by_force;
  Mutex mutex = Mutex("house");
};

/// Waits in its destructor, in one of several ways.
class Guard {
 public:
  explicit Guard(House& house)
      : house_(house), kind_(static_cast<Kind>(random(5))), span_(random(3'000) * 1us) {
    ++house_.ledger->made;
    if (kind_ == Kind::Join) start_helper();
  }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  ~Guard() {
    ++house_.ledger->begun;
    try {
      protect_in_destructor([this] { wait_somehow(); });
    } catch (const ForcedUnwind&) {  // Nobody is left who could grant a lock.
      house_.ledger->disturbed += kind_ != Kind::Lock;
    } catch (...) {
      ++house_.ledger->disturbed;
    }
    ++house_.ledger->ended;
  }

 private:
  enum class Kind : std::uint8_t { Suspend, Delay, Lock, Join, Protect };

  void start_helper() {
    SpawnOptions options;
    options.name = "helper";
    options.scope = &current_runtime().root_scope();
    helper_ = spawn(std::move(options), [stop = stop_] {
      while (!*stop) delay(200us);
    });
  }
  void wait_somehow() const {
    switch (kind_) {
      case Kind::Suspend:
        suspend();
        return suspend();
      case Kind::Delay:
        return delay(house_.by_force ? Duration(1h) : span_);
      case Kind::Lock: {
        const Mutex::Guard guard(house_.mutex);
        return delay(100us);
      }
      case Kind::Join:
        *stop_ = true;
        return join_helper();
      case Kind::Protect:
        return protect([this] { delay(span_); });
    }
  }
  void join_helper() const {
    try {
      await(helper_);
    } catch (const Cancellation&) {
      if (!helper_->is_cancelled()) throw;  // A shutdown cancels helpers.
    }
  }

  House& house_;
  Kind kind_;
  Duration span_;
  std::shared_ptr<bool> stop_ = std::make_shared<bool>(false);
  Coroutine<> helper_;
};

/// Goes through one or two destructors on one of the ways out, and comes to a suspension point.
void act(House& house) {
  const auto me = Ref<CoroutineBase>::share(current_coroutine());
  const std::uint64_t way = random(3);
  try {
    const Guard outer(house);
    if (random(2) == 1) {
      const Guard inner(house);
      delay(random(2'000) * 1us);
    }
    if (way == 1) throw Error("on the way out");
    if (way == 2) delay(1s);
  } catch (const Error&) {
  }
  const bool due = me->is_cancellation_requested();
  suspend();
  if (due) ++house.ledger->late;
}

/// Some of the actors are cancelled by somebody who is not in step with them.
void cancel_some(const std::vector<Coroutine<>>& actors) {
  for (const Coroutine<>& each : actors) {
    delay(random(1'500) * 1us);
    if (random(2) == 1) each.cancel();
  }
}

void play(const std::shared_ptr<Ledger>& ledger, End end) {
  const auto house = std::make_shared<House>(ledger, end == End::ShutdownByForce);
  Scope scope = Scope::detached("actors");
  std::vector<Coroutine<>> actors;
  for (std::size_t i = 0; i < kActors; ++i) {
    actors.push_back(scope.spawn("actor", [house] { act(*house); }));
  }
  cancel_some(actors);
  if (end == End::ScopeEnd) scope.cancel();
  if (end == End::Shutdown || end == End::ShutdownByForce) shutdown();
  for (const Coroutine<>& each : actors) {
    try {
      await(each);
    } catch (const Cancellation&) {
      if (current_coroutine().is_cancellation_requested()) throw;
    }
  }
}

SIM_TEST(Destructors, WaitOnEveryWayOut) {
  constexpr std::array kEnds = {End::OfItself, End::ScopeEnd, End::Shutdown, End::ShutdownByForce,
                                End::Crash};
  const End end = kEnds[random(kEnds.size())];
  const auto ledger = std::make_shared<Ledger>();
  auto& program = world.node("program", [ledger, end] { play(ledger, end); });
  if (end == End::Crash) world.at(random(4'000) * 1us, [node = &program] { node->crash(); });
  world.run();
  ledger->check(end);
}

}  // namespace
}  // namespace fermata::properties
