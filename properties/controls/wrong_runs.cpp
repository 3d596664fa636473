// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <csignal>
#include <ctime>
#include <memory>
#include <utility>

#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/io/tcp.hpp"
#include "fermata/sim.hpp"
#include "fermata/sim/history/history.hpp"
#include "fermata/sync/await.hpp"
#include "fermata/sync/future.hpp"
#include "fermata/sync/mutex.hpp"
#include "fermata/sync/semaphore.hpp"
#include "properties/controls/canary.hpp"
#include "properties/controls/go_on.hpp"

namespace fermata::properties {
namespace {

using namespace std::chrono_literals;
using sim::Verdict;
using sim::World;
using sim::detail::WaitClass;
using Body = std::function<void(World& world)>;

struct TwoLocks {
  Mutex left{"left"};
  Mutex right{"right"};
};

void lock_both(Mutex& first, Mutex& second) {
  const Mutex::Guard one(first);
  suspend();
  const Mutex::Guard two(second);
}

/// Two that nobody can reach take two locks in two orders. They keep the locks: what is unwound
/// after the main coroutine still gives them back.
void close_ring() {
  const auto locks = std::make_shared<TwoLocks>();
  spawn("a", [locks] { lock_both(locks->left, locks->right); });
  spawn("b", [locks] { lock_both(locks->right, locks->left); });
}

void hog_and_poller(World&) {
  Mutex mutex("mutex");
  const auto hog = spawn("hog", [&] {
    for (;;) {
      const Mutex::Guard guard(mutex);
      suspend();
    }
  });
  const auto poller = spawn("poller", [&] {
    while (!mutex.try_lock()) suspend();
  });
  await(poller);
}

class Again final : public backend::Microtask {
 public:
  void run() override { current_runtime().queue_microtask(*this); }
};

Canary safety(const char* name, CanaryClass kind, const char* says, std::uint64_t step,
              Body program) {
  return {name, Verdict::Safety, kind, says, step, std::move(program)};
}
Canary liveness(const char* name, CanaryClass kind, const char* says, std::uint64_t step,
                Body program) {
  return {name, Verdict::Liveness, kind, says, step, std::move(program)};
}
Canary missed(const char* name, CanaryClass kind, const char* says, std::uint64_t step,
              Body program) {
  return {name, Verdict::Missed, kind, says, step, std::move(program)};
}
Canary deadlock(const char* name, CanaryClass kind, const char* says, std::uint64_t step,
                Body program) {
  return {name, Verdict::Deadlock, kind, says, step, std::move(program)};
}
Canary nondeterminism(const char* name, const char* says, std::uint64_t step, Body program) {
  return {name, Verdict::Nondeterminism, {}, says, step, std::move(program)};
}

}  // namespace

std::vector<Canary> wrong_runs() {
  return {
      // --- what somebody claims, or nobody handles ---
      safety("expectation", {}, "as planned", 0,
             [](World&) {
               EXPECT_TRUE(false) << "as planned";
               go_on();
             }),
      safety("error_of_the_main_coroutine", {}, "as planned", 1,
             [](World&) { throw Error("as planned"); }),
      safety("error_of_another_coroutine", {}, "as planned", 3,
             [](World&) {
               spawn("worker", [] { throw Error("as planned"); });
               go_on();
             }),
      safety("error_of_an_action", {}, "as planned", 1,
             [](World& world) {
               world.at(1ms, [] { throw Error("as planned"); });
               delay(1s);
             }),
      safety("signal_that_nobody_expects", {}, "terminated 'main'", 1,
             [](World& world) {
               world.at(1ms, [&] { world.node("main").signal(SIGUSR1); });
               delay(1s);
             }),
      safety("sweep", {}, "sweep: 'swept' fails when suspension 1 is cancelled", 9,
             [](World& world) {
               world.sweep_cancellation([] {
                 try {
                   suspend();
                 } catch (const Cancellation&) {
                   throw Error("as planned");
                 }
               });
             }),
      safety("history", {}, "\"answer\":\"not linearizable\"", 2,
             [](World& world) {
               sim::History<sim::models::Register<int>> history(world, "register");
               const auto write = history.invoke("Ada", sim::models::Write<int>{1});
               write.responds();
               const auto read = history.invoke("Bob", sim::models::Read{});
               read.responds(2);
               history.expect_linearizable();
             }),
      safety("always", backend::AssertionKind::Always, "always: as planned", 0,
             [](World&) { FERMATA_ALWAYS(random(1) != 0, "as planned"); }),
      safety("unreachable", backend::AssertionKind::Unreachable, "unreachable: as planned", 0,
             [](World&) { FERMATA_UNREACHABLE("as planned"); }),
      liveness("eventually_late", backend::AssertionKind::Eventually, "eventually: as planned", 6,
               [](World&) {
                 FERMATA_EVENTUALLY(2ms, random(1) != 0, "as planned");
                 for (;;) delay(1ms);
               }),
      liveness("eventually_left", backend::AssertionKind::Eventually, "before its scope was left",
               0,
               [](World&) {
                 { FERMATA_EVENTUALLY(2ms, random(1) != 0, "as planned"); }
                 go_on();
               }),
      missed("sometimes", backend::AssertionKind::Sometimes, "sometimes 'a die shows seven'", 1,
             [](World&) { FERMATA_SOMETIMES(random(6) == 6, "a die shows seven"); }),
      missed("reachable", backend::AssertionKind::Reachable, "reachable 'a die shows eight'", 1,
             [](World&) {
               if (random(6) == 7) FERMATA_REACHABLE("a die shows eight");
             }),

      // --- runs without an end ---
      liveness("steps_without_end", WaitClass::None, "most of late by 'main'", 2001,
               [](World&) {
                 for (;;) delay(1us);
               }),
      liveness("time_without_end", {}, "within 3600 s of virtual time", 3,
               [](World&) {
                 delay(1s);
                 delay(2h);
               }),
      liveness("time_that_stands_still", {},
               "without a wait for time to pass, most of late by 'main'", 1001,
               [](World&) {
                 for (;;) suspend();
               }),
      liveness("timers_that_stand_still", {}, "most of late by Timer #", 500,
               [](World&) {
                 const auto timer = make_timer(current_runtime(), 0ms, TimerMode::Multishot);
                 const auto again =
                     subscribe(*timer, [&](Event&, const fermata::Outcome&) { timer->rearm(0ms); });
                 timer->start();
                 delay(1s);
               }),
      liveness("actions_that_stand_still", {}, "rounds of actions", 0,
               [](World& world) {
                 const std::function<void()> again = [&] { world.at(0ms, again); };
                 again();
                 delay(1s);
               }),
      liveness("microtasks_without_end", {}, "microtasks without a switch", 2,
               [](World&) {
                 Again again;
                 current_runtime().queue_microtask(again);
                 suspend();
               }),
      liveness("quiet_world", WaitClass::Cycle, "no pending events, 2 coroutines blocked", 6,
               [](World& world) {
                 world.node("server", [] {
                   auto listener = TcpListener::bind({"0.0.0.0", 80});
                   std::byte question[1];
                   static_cast<void>(listener.accept()->read(question));
                 });
                 auto server = TcpStream::connect(world.node("server").address(80));
                 std::byte greeting[1];
                 static_cast<void>(server.read(greeting));
               }),
      liveness("starvation", WaitClass::Starvation, "'poller' was refused mutex 'mutex'", 1001,
               &hog_and_poller),

      // --- who can never go on ---
      deadlock("deadlock", WaitClass::Cycle, "cycle: 'a' --mutex 'right'", 5,
               [](World&) {
                 close_ring();
                 const Promise<int> never("answer");
                 static_cast<void>(await(never.future()));
               }),
      deadlock("partial_deadlock", WaitClass::Cycle, "partial deadlock: 'a', 'b' can never go on",
               39,
               [](World&) {
                 close_ring();
                 go_on();
               }),
      deadlock("partial_deadlock_that_main_leaves", WaitClass::Cycle,
               "cycle: 'a' --mutex 'right' (held by 'b'", 6,
               [](World&) {
                 close_ring();
                 suspend();
               }),
      deadlock("partial_deadlock_that_a_handle_reaches", WaitClass::Cycle,
               "partial deadlock: 'left', 'right' can never go on", 1001,
               [](World&) {
                 Coroutine<> left;
                 Coroutine<> right;
                 left = spawn("left", [&] { await(right); });
                 right = spawn("right", [&] { await(left); });
                 for (;;) suspend();
               }),
      deadlock("permit_that_nobody_gives_back", WaitClass::LostWakeUp,
               "lost wake-up: semaphore 'permits' is held by 'thief'", 5,
               [](World&) {
                 Semaphore permits("permits", 1);
                 await(spawn("lender", [&] {
                   permits.acquire();
                   permits.release();
                 }));
                 await(spawn("thief", [&] { permits.acquire(); }));
                 permits.acquire();
               }),
      deadlock("promise_that_nobody_keeps", WaitClass::Orphan,
               "orphan: nobody is left who could make future 'answer' fire", 1,
               [](World&) {
                 const Promise<int> never("answer");
                 static_cast<void>(await(never.future()));
               }),
      deadlock("timer_that_was_closed", WaitClass::CancelledTimer,
               "cancelled timer: timer #3 was closed by 'main', in step 3", 3,
               [](World&) {
                 const auto alarm = make_timer(current_runtime(), 1s);
                 const auto sleeper = spawn("sleeper", [&] { wait(*alarm); });
                 suspend();
                 alarm->close();
                 await(sleeper);
               }),

      // --- runs that are not repeated ---
      nondeterminism("address", "another run on another heap and other stacks", 64,
                     [](World&) {
                       const auto block = std::make_unique<char[]>(600);
                       const auto address = reinterpret_cast<std::uintptr_t>(block.get());
                       for (std::uintptr_t i = 0; i < (address >> 4) % 64; ++i) suspend();
                     }),
      nondeterminism("state_that_is_left", "state leaks between runs", 1,
                     [](World&) {
                       static int runs = 0;
                       EXPECT_NE(++runs, 5);
                     }),
      nondeterminism("clock", "simulated code calls time", 0,
                     [](World&) {
                       static_cast<void>(std::time(nullptr));
                       go_on();
                     }),
  };
}

}  // namespace fermata::properties
