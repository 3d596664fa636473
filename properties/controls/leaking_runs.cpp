// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <functional>
#include <utility>

#include "fermata/core/scope.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/io/descriptor.hpp"
#include "fermata/io/file.hpp"
#include "fermata/io/offload.hpp"
#include "fermata/io/process.hpp"
#include "fermata/io/tcp.hpp"
#include "fermata/io/thread.hpp"
#include "fermata/io/trigger.hpp"
#include "fermata/io/udp.hpp"
#include "fermata/sim.hpp"
#include "fermata/sync/await.hpp"
#include "properties/controls/canary.hpp"

namespace fermata::properties {
namespace {

using namespace std::chrono_literals;
using sim::World;

/// Nobody ever gives it back.
void forget(Event& event) { event.add_ref(); }

void forget_one_of(backend::EventKind kind) {
  const auto& events = current_runtime().kernel().live_events;
  for (Event* each = events.first(); each != nullptr; each = each->next_live()) {
    if (each->kind() == kind) return forget(*each);
  }
  throw Error("there is none to forget");
}

/// An event as only the runtime makes it.
template <backend::EventKind kKind>
void forget_bare(World&) {
  class Bare final : public Event {
   public:
    explicit Bare(Runtime& runtime) : Event(runtime, kKind) {}
  };
  forget(*new Bare(current_runtime()));
}

/// `wait` is under way in another coroutine when what it waits for is forgotten.
void forget_while(backend::EventKind kind, const std::function<void()>& wait) {
  const auto waiter = spawn("waiter", [&] { wait(); });
  suspend();
  forget_one_of(kind);
  await(waiter);
}

Canary leak(const char* name, CanaryClass kind, const char* says, std::uint64_t step,
            std::function<void(World& world)> program) {
  return {name, sim::Verdict::Leak, kind, says, step, std::move(program)};
}

}  // namespace

std::vector<Canary> leaking_runs() {
  return {
      leak("event", backend::EventKind::Plain,
           "CORE-EV-10: 1 events outlive the run, first: Event #", 1,
           &forget_bare<backend::EventKind::Plain>),
      leak("scope", backend::EventKind::Scope,
           "'orders' created at properties/controls/leaking_runs.cpp:", 1,
           [](World&) {
             const Scope orders = Scope::detached("orders");
             forget(*orders);
           }),
      leak("coroutine", backend::EventKind::Coroutine,
           "'forgotten' spawned at properties/controls/leaking_runs.cpp:", 3,
           [](World&) {
             auto forgotten = spawn("forgotten", [] {});
             forget(*forgotten);
             await(forgotten);
           }),
      leak("timer", backend::EventKind::Timer, "Timer #", 1,
           [](World&) { forget(*make_timer(current_runtime(), 1h)); }),
      leak("armed_timer", backend::EventKind::Timer, "Timer #", 1,
           [](World&) {
             const auto timer = make_timer(current_runtime(), 1h);
             timer->set_hidden(true);
             timer->start();
             forget(*timer);
           }),
      leak("descriptor", backend::EventKind::Poll, "Poll #", 1,
           [](World&) {
             backend::DescriptorCalls& calls = descriptor_calls();
             const DescriptorPair ends = calls.open_pair();
             {
               const Descriptor watched(ends.first);
               forget(watched.poll());
             }
             calls.close(ends.first);
             calls.close(ends.second);
           }),
      leak("wait_for_a_descriptor", backend::EventKind::PollProxy, "PollProxy #", 1,
           &forget_bare<backend::EventKind::PollProxy>),
      leak("signal", backend::EventKind::Signal, "Signal #", 1,
           &forget_bare<backend::EventKind::Signal>),
      leak("trigger", backend::EventKind::Trigger,
           "made at properties/controls/leaking_runs.cpp:", 1,
           [](World&) {
             const Trigger trigger;
             forget(trigger.handle());
           }),
      leak("task", backend::EventKind::Task, "Task #", 5,
           [](World&) { forget_while(backend::EventKind::Task, [] { offload([] {}); }); }),
      leak("thread", backend::EventKind::Thread, "Thread #3 \"helper\"", 3,
           [](World&) {
             const auto helper = spawn_thread([] {}, {.name = "helper"});
             forget(helper.event());
             await(helper);
           }),
      leak("process", backend::EventKind::Process,
           "(pid=1000), made at properties/controls/leaking_runs.cpp:", 2,
           [](World& world) {
             world.program("sort", sim::ScriptedProgram().says("done"));
             auto sort = Process::spawn({.program = "sort"});
             static_cast<void>(sort.wait());
             forget(sort.event());
           }),
      leak("listener", backend::EventKind::Listener,
           "made at properties/controls/leaking_runs.cpp:", 1,
           [](World&) {
             const auto listener = TcpListener::bind({"0.0.0.0", 80});
             forget(listener.handle());
           }),
      leak("request", backend::EventKind::Request, "Request #", 1,
           &forget_bare<backend::EventKind::Request>),
      leak("file", backend::EventKind::Io,
           "\"log\", made at properties/controls/leaking_runs.cpp:", 2,
           [](World&) {
             const File log = File::open("log", OpenMode::updating());
             forget(log.handle());
           }),
      leak("socket", backend::EventKind::Io, "made at properties/controls/leaking_runs.cpp:", 1,
           [](World&) {
             const auto socket = UdpSocket::bind({"0.0.0.0", 53});
             forget(socket.handle());
           }),
      leak("joint_wait", backend::EventKind::Joint, "Joint #", 1,
           &forget_bare<backend::EventKind::Joint>),
  };
}

}  // namespace fermata::properties
