// SPDX-License-Identifier: Apache-2.0

// Programs that are wrong, each in one way, and what must be told of each: the verdict, the class,
// the words that name the culprit, and the step by which the run is over. What there is to be told
// has at least one of them.

#include <gtest/gtest.h>

#include <fermata/sim.hpp>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "fermata/core/assertions.hpp"
#include "fermata/core/scope.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/io/descriptor.hpp"
#include "fermata/io/file.hpp"
#include "fermata/io/file_watcher.hpp"
#include "fermata/io/offload.hpp"
#include "fermata/io/process.hpp"
#include "fermata/io/tcp.hpp"
#include "fermata/io/thread.hpp"
#include "fermata/io/trigger.hpp"
#include "fermata/io/udp.hpp"
#include "fermata/sim/base/program_path.hpp"
#include "fermata/sim/run/explore.hpp"
#include "fermata/sim/tape/tape.hpp"
#include "fermata/sim/waits/deadlock.hpp"
#include "fermata/sync/await.hpp"
#include "fermata/sync/channel.hpp"
#include "fermata/sync/future.hpp"
#include "fermata/sync/mutex.hpp"
#include "fermata/sync/semaphore.hpp"
#include "tests/meta/process.hpp"
#include "tests/support/events.hpp"
#include "tests/support/every.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;
using detail::WaitClass;
using Json = nlohmann::ordered_json;

/// What more there is to a verdict: how nobody can go on, what was claimed, what was left.
using Class = std::variant<std::monostate, WaitClass, AssertionKind, EventKind>;

using Body = std::function<void(World& world)>;

struct Canary {
  const char* name;
  Verdict verdict;
  Class kind;
  const char* says;    // In the message or in what is told beneath it.
  std::uint64_t step;  // No later than this one the run is over.
  Body program;
};

std::ostream& operator<<(std::ostream& out, const Canary& canary) { return out << canary.name; }

/// Whoever is wrong, others go on: what is told late is told when they are done.
void go_on() {
  for (int i = 0; i < 300; ++i) suspend();
}

/// Nobody ever gives it back.
void forget(Event& event) { event.add_ref(); }

void forget_one_of(EventKind kind) {
  const auto& events = current_runtime().kernel().live_events;
  for (Event* each = events.first(); each != nullptr; each = each->next_live()) {
    if (each->kind() == kind) return forget(*each);
  }
  throw Error("there is none to forget");
}

/// An event as only the runtime makes it.
template <EventKind kKind>
void forget_bare(World&) {
  class Bare final : public Event {
   public:
    explicit Bare(Runtime& runtime) : Event(runtime, kKind) {}
  };
  forget(*new Bare(current_runtime()));
}

/// `wait` is under way in another coroutine when what it waits for is forgotten.
void forget_while(EventKind kind, const std::function<void()>& wait) {
  const auto waiter = spawn("waiter", [&] { wait(); });
  suspend();
  forget_one_of(kind);
  await(waiter);
}

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

class Again final : public Microtask {
 public:
  void run() override { current_runtime().queue_microtask(*this); }
};

Canary safety(const char* name, Class kind, const char* says, std::uint64_t step, Body program) {
  return {name, Verdict::Safety, kind, says, step, std::move(program)};
}
Canary liveness(const char* name, Class kind, const char* says, std::uint64_t step, Body program) {
  return {name, Verdict::Liveness, kind, says, step, std::move(program)};
}
Canary missed(const char* name, Class kind, const char* says, std::uint64_t step, Body program) {
  return {name, Verdict::Missed, kind, says, step, std::move(program)};
}
Canary deadlock(const char* name, Class kind, const char* says, std::uint64_t step, Body program) {
  return {name, Verdict::Deadlock, kind, says, step, std::move(program)};
}
Canary nondeterminism(const char* name, const char* says, std::uint64_t step, Body program) {
  return {name, Verdict::Nondeterminism, {}, says, step, std::move(program)};
}
Canary leak(const char* name, Class kind, const char* says, std::uint64_t step, Body program) {
  return {name, Verdict::Leak, kind, says, step, std::move(program)};
}

std::vector<Canary> canaries() {
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
      safety("signal_that_nobody_expects", {}, "kills 'main'", 1,
             [](World& world) {
               world.at(1ms, [&] { world.node("main").signal(SIGUSR1); });
               delay(1s);
             }),
      safety("always", AssertionKind::Always, "always: as planned", 0,
             [](World&) { FERMATA_ALWAYS(random(1) != 0, "as planned"); }),
      safety("unreachable", AssertionKind::Unreachable, "unreachable: as planned", 0,
             [](World&) { FERMATA_UNREACHABLE("as planned"); }),
      liveness("eventually_late", AssertionKind::Eventually, "eventually: as planned", 6,
               [](World&) {
                 FERMATA_EVENTUALLY(2ms, random(1) != 0, "as planned");
                 for (;;) delay(1ms);
               }),
      liveness("eventually_left", AssertionKind::Eventually, "before its scope was left", 0,
               [](World&) {
                 { FERMATA_EVENTUALLY(2ms, random(1) != 0, "as planned"); }
                 go_on();
               }),
      missed("sometimes", AssertionKind::Sometimes, "sometimes 'a die shows seven'", 1,
             [](World&) { FERMATA_SOMETIMES(random(6) == 6, "a die shows seven"); }),
      missed("reachable", AssertionKind::Reachable, "reachable 'a die shows eight'", 1,
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
      liveness("quiet_world", WaitClass::Cycle, "quiet for ever while 2 coroutines wait", 6,
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
      nondeterminism("state_that_is_left", "the same seed gave another run", 1,
                     [](World&) {
                       static int runs = 0;
                       EXPECT_NE(++runs, 5);
                     }),
      nondeterminism("clock", "simulated code calls time", 0,
                     [](World&) {
                       static_cast<void>(std::time(nullptr));
                       go_on();
                     }),

      // --- what is left ---
      leak("event", EventKind::Plain, "CORE-EV-10: 1 events outlive the run, first: Event #", 1,
           &forget_bare<EventKind::Plain>),
      leak("scope", EventKind::Scope, "'orders' created at tests/meta/canaries_test.cpp:", 1,
           [](World&) {
             const Scope orders("orders");
             forget(*orders);
           }),
      leak("coroutine", EventKind::Coroutine,
           "'forgotten' spawned at tests/meta/canaries_test.cpp:", 3,
           [](World&) {
             auto forgotten = spawn("forgotten", [] {});
             forget(*forgotten);
             await(forgotten);
           }),
      leak("timer", EventKind::Timer, "Timer #", 1,
           [](World&) { forget(*make_timer(current_runtime(), 1h)); }),
      leak("armed_timer", EventKind::Timer, "Timer #", 1,
           [](World&) {
             const auto timer = make_timer(current_runtime(), 1h);
             timer->set_hidden(true);
             timer->start();
             forget(*timer);
           }),
      leak("descriptor", EventKind::Poll, "Poll #", 1,
           [](World&) {
             DescriptorCalls& calls = descriptor_calls();
             const DescriptorPair ends = calls.open_pair();
             {
               const Descriptor watched(ends.first);
               forget(watched.poll());
             }
             calls.close(ends.first);
             calls.close(ends.second);
           }),
      leak("wait_for_a_descriptor", EventKind::PollProxy, "PollProxy #", 1,
           &forget_bare<EventKind::PollProxy>),
      leak("signal", EventKind::Signal, "Signal #", 1, &forget_bare<EventKind::Signal>),
      leak("trigger", EventKind::Trigger, "made at tests/meta/canaries_test.cpp:", 1,
           [](World&) {
             const Trigger trigger;
             forget(trigger.handle());
           }),
      leak("task", EventKind::Task, "Task #", 5,
           [](World&) { forget_while(EventKind::Task, [] { offload([] {}); }); }),
      leak("thread", EventKind::Thread, "Thread #3 \"helper\"", 3,
           [](World&) {
             const auto helper = spawn_thread([] {}, {.name = "helper"});
             forget(helper.event());
             await(helper);
           }),
      leak("process", EventKind::Process, "(pid=1000), made at tests/meta/canaries_test.cpp:", 2,
           [](World& world) {
             world.program("sort", ScriptedProgram().says("done"));
             auto sort = Process::spawn({.program = "sort"});
             static_cast<void>(sort.wait());
             forget(sort.event());
           }),
      leak("listener", EventKind::Listener, "made at tests/meta/canaries_test.cpp:", 1,
           [](World&) {
             const auto listener = TcpListener::bind({"0.0.0.0", 80});
             forget(listener.handle());
           }),
      leak("request", EventKind::Request, "Request #", 1, &forget_bare<EventKind::Request>),
      leak("file", EventKind::Io, "\"log\", made at tests/meta/canaries_test.cpp:", 2,
           [](World&) {
             const File log = File::open("log", OpenMode::updating());
             forget(log.handle());
           }),
      leak("socket", EventKind::Io, "made at tests/meta/canaries_test.cpp:", 1,
           [](World&) {
             const auto socket = UdpSocket::bind({"0.0.0.0", 53});
             forget(socket.handle());
           }),
      leak("joint_wait", EventKind::Joint, "Joint #", 1, &forget_bare<EventKind::Joint>),
  };
}

struct Told {
  Verdict verdict = Verdict::Missed;
  std::string text;
  std::uint64_t step = 0;
  std::string wait_class = {};
};

/// Of the first of a few runs that fails; of those that pass, what never happened.
Told tell(const Canary& canary) {
  ExploreOptions options;
  options.runs = 4;
  options.strategy = "fifo";
  options.faults = "none";
  options.check_determinism = 1;
  options.world.time_limit = 1h;
  options.world.step_limit = 2000;
  options.world.instant_limit = 1000;
  const ExploreResult result = explore(options, canary.program);
  if (!result.found) {
    Told told{.text = "missed", .step = result.steps_max};
    for (const Claim& claim : result.catalogue.missed()) told.text += "\n" + claim.text();
    return told;
  }
  const Failure& failure = result.found->failure;
  Told told{failure.verdict, failure.message + "\n" + failure.explanation, result.found->steps};
  if (!failure.wait_graph.empty()) told.wait_class = Json::parse(failure.wait_graph)["class"];
  return told;
}

class CanaryTest : public ::testing::TestWithParam<Canary> {};

TEST_P(CanaryTest, IsToldInTime) {
  const Canary& canary = GetParam();
  const Told told = tell(canary);
  EXPECT_STREQ(to_string(told.verdict), to_string(canary.verdict)) << told.text;
  EXPECT_NE(told.text.find(canary.says), std::string::npos) << told.text;
  EXPECT_LE(told.step, canary.step) << told.text;
  if (const auto* kind = std::get_if<WaitClass>(&canary.kind)) {
    EXPECT_EQ(told.wait_class, detail::to_string(*kind)) << told.text;
  }
  if (const auto* kind = std::get_if<EventKind>(&canary.kind)) {
    EXPECT_NE(told.text.find(std::string(to_string(*kind)) + " "), std::string::npos) << told.text;
  }
}

INSTANTIATE_TEST_SUITE_P(Canaries, CanaryTest, ::testing::ValuesIn(canaries()),
                         [](const auto& each) { return std::string(each.param.name); });

// --- a tape and a program that do not fit ---

SIM_TEST(Specimen, DISABLED_Race) {
  int last = 0;
  const auto first = spawn("first", [&] { last = 1; });
  const auto second = spawn("second", [&] { last = 2; });
  await(first);
  await(second);
  EXPECT_EQ(last, 2) << "as planned";
}

testing::Finished run_race(const std::string& settings) {
  const std::string out = "FERMATA_OUT=" + ::testing::TempDir() + "fermata_meta_canaries ";
  return testing::run_shell(out + settings + detail::program_path() +
                            " --gtest_also_run_disabled_tests "
                            "--gtest_filter=Specimen.DISABLED_Race");
}

TEST(Divergence, IsToldAtTheFirstDrawThatIsNoneOfTheTape) {
  const std::string path = testing::line_with(run_race("").output, "tape: ");
  Tape tape = load_tape(path);
  ASSERT_FALSE(tape.decisions.empty());
  tape.decisions.front().occurrence += 1;
  save_tape(tape, path);
  const testing::Finished told = run_race("FERMATA_REPLAY=" + path + " ");
  EXPECT_EQ(told.exit_code, exit_code(Verdict::Divergence)) << told.output;
  EXPECT_TRUE(testing::says(told, "divergence: expected draw "));
  EXPECT_TRUE(testing::says(told, ", step 1"));
}

// --- nothing is without one ---

/// Whether one of the canaries fits.
template <class Fits>
bool any_canary(Fits fits) {
  const std::vector<Canary> all = canaries();
  return std::any_of(all.begin(), all.end(), fits);
}

template <class Enum>
bool has_canary(Enum kind) {
  return any_canary([&](const Canary& each) { return each.kind == Class(kind); });
}

/// A new kind that is not here is one that the compiler complains about.
const char* name_of(AssertionKind kind) {
  switch (kind) {
    case AssertionKind::Always:
      return "always";
    case AssertionKind::Unreachable:
      return "unreachable";
    case AssertionKind::Sometimes:
      return "sometimes";
    case AssertionKind::Reachable:
      return "reachable";
    case AssertionKind::Eventually:
      return "eventually";
  }
  return "always";
}

TEST(Canaries, AreThereForEachVerdict) {
  for (const Verdict verdict : test::every<Verdict>(to_string)) {
    if (verdict == Verdict::Divergence) continue;  // Of a replay: a test of its own, above.
    EXPECT_TRUE(any_canary([&](const Canary& each) { return each.verdict == verdict; }))
        << to_string(verdict);
  }
}

TEST(Canaries, AreThereForEachClassOfDeadlock) {
  for (const WaitClass kind : test::every<WaitClass>(detail::to_string)) {
    EXPECT_TRUE(has_canary(kind)) << detail::to_string(kind);
  }
}

TEST(Canaries, AreThereForEachKindOfAssertion) {
  for (const AssertionKind kind : test::every<AssertionKind>(name_of)) {
    EXPECT_TRUE(has_canary(kind)) << name_of(kind);
  }
}

TEST(Canaries, AreThereForEachKindOfLeak) {
  for (const EventKind kind : test::every<EventKind>(fermata::to_string)) {
    EXPECT_TRUE(has_canary(kind)) << to_string(kind);
  }
}

}  // namespace
}  // namespace fermata::sim
