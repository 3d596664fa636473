// SPDX-License-Identifier: Apache-2.0

// One body over every kind of event: whoever waits, waits through `Event&` and knows no kind.

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fermata/core/scope.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/io/exec.hpp"
#include "fermata/io/file_system.hpp"
#include "fermata/io/offload.hpp"
#include "fermata/io/pipe.hpp"
#include "fermata/io/tcp.hpp"
#include "fermata/io/thread.hpp"
#include "fermata/reactor/file_watches.hpp"
#include "fermata/reactor/names.hpp"
#include "fermata/reactor/poll.hpp"
#include "fermata/reactor/processes.hpp"
#include "fermata/reactor/signal.hpp"
#include "fermata/reactor/trigger.hpp"
#include "fermata/sync/await.hpp"
#include "fermata/sync/channel.hpp"
#include "fermata/sync/future.hpp"
#include "fermata/sync/pool.hpp"
#include "fermata/sync/task_group.hpp"
#include "tests/conformance/programs.hpp"
#include "tests/conformance/scratch_folder.hpp"
#include "tests/support/error_of.hpp"

namespace fermata::conformance {
namespace {

using namespace std::chrono_literals;
using test::error_of;

/// An event, and what makes it fire once it is started. `fire` owns both; it may suspend.
struct Subject {
  Event& event;
  std::function<void()> fire;
  bool fires_again = false;
  /// What whoever waits gets begins so.
  std::string answer = "no error";
};

struct Kind {
  std::string name;
  std::function<Subject()> make;
};

/// Whatever was to fire has fired.
void let_pass() { delay(20ms); }

/// The body: nothing in it depends on the kind.
void expect_an_event(const Kind& kind) {
  SCOPED_TRACE(kind.name);
  int told = 0;
  const auto count = [&told](Event&, const Outcome&) { ++told; };
  {
    const Subject subject = kind.make();
    Subscription subscription = subscribe(subject.event, count);
    subject.event.start();
    subject.fire();
    for (int i = 0; i < 1000 && told == 0; ++i) let_pass();
    let_pass();
    EXPECT_EQ(told, 1);
    subscription.cancel();
    EXPECT_EQ(subject.event.callbacks().size(), 0u);
    if (subject.fires_again) subject.fire();
    let_pass();
    subject.event.stop();
    EXPECT_EQ(told, 1);
  }
  {
    const Subject subject = kind.make();
    Subscription subscription = subscribe(subject.event, count);
    subject.event.start();
    subscription.cancel();
    subject.fire();
    let_pass();
    subject.event.stop();
    EXPECT_EQ(told, 1);
  }
  const Subject subject = kind.make();
  const auto waiter = spawn("waiter", [&subject] {
    return error_of([&subject] { wait(subject.event, {.timeout = 20s}); });
  });
  suspend();
  subject.fire();
  EXPECT_EQ(await(waiter).substr(0, subject.answer.size()), subject.answer);
  EXPECT_EQ(subject.event.callbacks().size(), 0u);
  EXPECT_EQ(subject.event.loop_ref_count(), 0u);
}

// --- those that code completes ---

Subject make_coroutine() {
  Promise<> gate;
  const auto coroutine = spawn("sleeper", [opened = gate.future()] { await(opened); });
  return {coroutine.event(), [coroutine, gate]() mutable { gate.complete(); }};
}

Subject make_future() {
  Promise<> promise;
  promise.future().ignore();
  return {promise.future().event(), [promise]() mutable { promise.complete(); }};
}

Subject make_channel() {
  Channel<int> channel("channel", 1);
  return {channel.event(), [channel]() mutable { channel.close(); }, false, "Channel is closed"};
}

Subject make_group() {
  const auto group = std::make_shared<TaskGroup<>>();
  return {group->event(), [group] { group->close(); }};
}

Subject make_pool() {
  const auto pool = std::make_shared<Pool<int>>(PoolOptions<int>{.factory = [] { return 1; }});
  return {pool->event(), [pool] { pool->close(); }, false, "Pool is closed"};
}

Subject make_scope() {
  const auto scope = std::make_shared<Scope>(Name("scope"));
  return {**scope, [scope] { scope->spawn("member", [] {}); }, true};
}

// A command is not an event of its own: whoever runs it is one.
Subject make_exec() {
  const auto runner = spawn("runner", [] { EXPECT_EQ(exec(commands::kHello).text, "hello"); });
  return {runner.event(), [runner] {}};
}

// --- those of the reactor ---

Subject make_timer_event() {
  const auto timer = make_timer(current_runtime(), 1h, TimerMode::Multishot);
  return {*timer, [timer] { timer->rearm(1ms); }, true};
}

template <class Arm>
Subject make_signal() {
  const auto event = std::make_shared<backend::SignalEvent>(reactor().signals(), SIGUSR1);
  return {*event, [event] { Arm::raise(SIGUSR1); }, true};
}

Subject make_trigger() {
  const auto trigger = reactor().triggers().make();
  return {*trigger, [trigger] { trigger->fire(); }, true};
}

// It begins when it is started.
Subject make_task() {
  const auto work = [] {};
  using Work = detail::TaskOf<decltype(work), void>;
  const auto task = Ref<Work>::adopt(*new Work(reactor().offload(), work));
  return {*task, [task] {}};
}

// It ends when the turn does.
Subject make_thread() {
  const auto thread = spawn_thread([] {});
  return {thread.event(), [thread] {}};
}

Subject make_process() {
  const ProcessOptions rests = {.program = "/bin/sh", .arguments = {"-c", commands::kRests}};
  const auto process = reactor().processes().spawn(rests).process;
  return {*process, [process] { process->kill(SIGKILL); }};
}

Subject make_listen() {
  struct Accepting {
    TcpListener listener = TcpListener::bind({"127.0.0.1", 0});
    backend::AcceptRequest request{listener.handle()};
  };
  const auto accepting = std::make_shared<Accepting>();
  return {accepting->request,
          [accepting] { (void)TcpStream::connect(accepting->listener.local_address()); }};
}

Subject make_io() {
  struct Reading {
    PipeEnds ends = open_pipe();
    std::array<std::byte, 1> buffer{};
    backend::ReadRequest request{ends.reader.handle(), buffer};
  };
  const auto reading = std::make_shared<Reading>();
  return {reading->request, [reading] { reading->ends.writer.write("x"); }};
}

// The question has been asked.
template <class... Question>
Subject make_question(const Question&... question) {
  const auto request = std::make_shared<backend::NameRequest>(reactor().names(), question...);
  return {*request, [request] {}};
}

Subject make_file_watch(const std::string& folder) {
  const auto watch = reactor().file_watches().open(folder, false);
  return {*watch,
          [watch, folder] {
            static int number = 0;
            fs::make_directory(folder + "/" + std::to_string(++number));
          },
          true};
}

/// A descriptor with `count` proxies, of which the first is the subject: a Poll tells its proxies
/// and nobody else. What fires is a hang-up, which is told once; readiness is told while it lasts.
Subject make_proxy(std::size_t count) {
  struct Watched {
    explicit Watched(std::size_t proxies_wanted) {
      const auto poll = reactor().polls().open(ends.first);
      while (proxies.size() < proxies_wanted) {
        proxies.push_back(std::make_unique<backend::PollProxy>(*poll, PollMask::Readable));
      }
    }
    ~Watched() {
      proxies.clear();
      calls.close(ends.first);
      if (ends.second >= 0) calls.close(ends.second);
    }
    backend::DescriptorCalls& calls = reactor().polls().calls();
    DescriptorPair ends = calls.open_pair();
    std::vector<std::unique_ptr<backend::PollProxy>> proxies;
  };
  const auto watched = std::make_shared<Watched>(count);
  return {*watched->proxies.front(), [watched] {
            EXPECT_EQ(watched->calls.close(std::exchange(watched->ends.second, -1)), 0);
          }};
}

template <class Arm>
std::vector<Kind> kinds(const std::string& folder) {
  return {
      {"timer", make_timer_event},
      {"signal", make_signal<Arm>},
      {"process", make_process},
      {"exec", make_exec},
      {"thread", make_thread},
      {"file system", [folder] { return make_file_watch(folder); }},
      {"DNS, name of an address", [] { return make_question(Address("127.0.0.1", 80)); }},
      {"DNS, addresses of a name", [] { return make_question("127.0.0.1", "80"); }},
      {"listen", make_listen},
      {"trigger", make_trigger},
      {"task", make_task},
      {"IO", make_io},
      {"coroutine", make_coroutine},
      {"future", make_future},
      {"channel", make_channel},
      {"task group", make_group},
      {"pool", make_pool},
      {"scope", make_scope},
      {"poll", [] { return make_proxy(1); }},
      {"poll proxy", [] { return make_proxy(2); }},
  };
}

template <class Arm>
class EventKinds : public ScratchFolder<Arm> {};
TYPED_TEST_SUITE(EventKinds, Programs);

TYPED_TEST(EventKinds, AreTwenty) {
  std::set<std::string> names;
  for (const Kind& kind : kinds<TypeParam>("")) names.insert(kind.name);
  EXPECT_EQ(names.size(), 20u);
}

TYPED_TEST(EventKinds, AreSubscribedToWokenByAndLeftAlike) {
  const std::string folder = this->path("watched");
  TypeParam::run([&folder] {
    fs::make_directory(folder);
    for (const Kind& kind : kinds<TypeParam>(folder)) expect_an_event(kind);
  });
}

}  // namespace
}  // namespace fermata::conformance
