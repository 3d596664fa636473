// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "fermata/core/scope.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/sync/mutex.hpp"
#include "properties/controls/damage.hpp"
#include "properties/controls/go_on.hpp"
#include "tests/support/private_member.hpp"

namespace fermata::test {

struct FlagsOfEvent {
  using Type = std::uint16_t Event::*;
  friend Type private_member(FlagsOfEvent);
};
template struct PrivateMember<FlagsOfEvent, &Event::flags_>;
struct LoopReferences {
  using Type = std::uint32_t Event::*;
  friend Type private_member(LoopReferences);
};
template struct PrivateMember<LoopReferences, &Event::loop_ref_count_>;
struct EventOfCallback {
  using Type = Event* backend::Callback::*;
  friend Type private_member(EventOfCallback);
};
template struct PrivateMember<EventOfCallback, &backend::Callback::event_>;
struct PlaceOfTimer {
  using Type = std::uint32_t Timer::*;
  friend Type private_member(PlaceOfTimer);
};
template struct PrivateMember<PlaceOfTimer, &Timer::queue_index_>;
struct LineOfPrimitive {
  using Type = fermata::detail::WaitQueue fermata::detail::Primitive::*;
  friend Type private_member(LineOfPrimitive);
};
template struct PrivateMember<LineOfPrimitive, &fermata::detail::Primitive::line_>;
struct NextTicket {
  using Type = std::uint64_t fermata::detail::WaitQueue::*;
  friend Type private_member(NextTicket);
};
template struct PrivateMember<NextTicket, &fermata::detail::WaitQueue::next_ticket_>;
struct ScopeOfCoroutine {
  using Type = ScopeBase* CoroutineBase::*;
  friend Type private_member(ScopeOfCoroutine);
};
template struct PrivateMember<ScopeOfCoroutine, &CoroutineBase::scope_>;
struct BusyChildren {
  using Type = std::size_t ScopeBase::*;
  friend Type private_member(BusyChildren);
};
template struct PrivateMember<BusyChildren, &ScopeBase::busy_children_>;
struct LiveChildren {
  using Type = std::size_t ScopeBase::*;
  friend Type private_member(LiveChildren);
};
template struct PrivateMember<LiveChildren, &ScopeBase::live_children_>;
struct ZombiesOfScope {
  using Type = std::size_t ScopeBase::*;
  friend Type private_member(ZombiesOfScope);
};
template struct PrivateMember<ZombiesOfScope, &ScopeBase::zombies_>;
struct BusyScope {
  using Type = bool ScopeBase::*;
  friend Type private_member(BusyScope);
};
template struct PrivateMember<BusyScope, &ScopeBase::busy_>;
struct Zombies {
  using Type = std::size_t fermata::detail::Scheduler::*;
  friend Type private_member(Zombies);
};
template struct PrivateMember<Zombies, &fermata::detail::Scheduler::zombies_>;

}  // namespace fermata::test

namespace fermata::properties {
namespace {

using namespace std::chrono_literals;
using Main = std::function<void()>;
using Change = std::function<void(CoroutineBase& sleeper)>;

constexpr std::uint16_t kClosed = 1;  // As Event has it.

/// The timer that the sleeper waits for.
Timer& timer_of(CoroutineBase& sleeper) {
  return static_cast<Timer&>(sleeper.waker().first()->source());
}

/// `damage` is done while one coroutine sleeps and another one is in the ready queue; then all goes
/// on. `mend` undoes it before the programs are unwound.
Main damaged(
    const Change& damage, const Change& mend = [](CoroutineBase&) {}) {
  return [=] {
    auto sleeper = spawn("sleeper", [] { delay(1h); });
    delay(1ms);
    const auto vandal = spawn("vandal", [&] {
      spawn("ready", [] {});
      damage(*sleeper);
      struct Mend {
        const Change& mend;
        CoroutineBase& sleeper;
        ~Mend() { mend(sleeper); }
      } const at_the_end{mend, *sleeper};
      go_on();
      sleeper.cancel();
    });
    wait(*vandal);
  };
}

template <class Tag, class Object>
auto& private_of(Object& object) {
  return object.*private_member(Tag{});
}

/// What the runtime tells its observers, without having done it.
void trace(backend::Trace kind, const Event* subject, std::uint64_t detail = 0) {
  current_runtime().kernel().trace(kind, subject, detail);
}

void flip_closed(Event& event) { private_of<test::FlagsOfEvent>(event) ^= kClosed; }

/// Another value for as long as this lives.
template <class T>
class Changed {
 public:
  Changed(T& where, T value) : where_(where), before_(std::exchange(where, value)) {}
  Changed(const Changed&) = delete;
  Changed& operator=(const Changed&) = delete;
  ~Changed() { where_ = before_; }

 private:
  T& where_;
  T before_;
};

/// A closed event is open, or the other way round, as long as this lives.
class FlippedClosed : Changed<std::uint16_t> {
 public:
  explicit FlippedClosed(Event& event)
      : Changed(private_of<test::FlagsOfEvent>(event),
                static_cast<std::uint16_t>(private_of<test::FlagsOfEvent>(event) ^ kClosed)) {}
};

fermata::detail::ReadyQueue& ready_queue() {
  return const_cast<fermata::detail::ReadyQueue&>(current_runtime().scheduler().ready());
}

void put_in_place_of_the_last(CoroutineBase& other) {
  fermata::detail::ReadyQueue& ready = ready_queue();
  ready.take(ready.size() - 1);
  ready.push_back(other);
}

void fire_open_timer(TimerMode mode) {
  Timer timer(current_runtime(), 1h, mode);
  timer.notify({});
  suspend();
}

}  // namespace

std::vector<Damage> damages() {
  return {
      // --- events ---
      {"CORE-EV-01", "the count of active events is", 5,
       damaged([](CoroutineBase& c) { ++c.runtime().kernel().active_events; },
               [](CoroutineBase& c) { --c.runtime().kernel().active_events; })},
      {"CORE-EV-02", "which has no loop reference", 38,
       damaged([](CoroutineBase& c) { c.waker().first()->source().stop(); })},
      {"CORE-EV-05", "is closed and has 7 loop references", 1,
       [] {
         const auto timer = make_timer(current_runtime(), 1h);
         timer->close();
         const Changed references(private_of<test::LoopReferences>(*timer), 7u);
         suspend();
       }},
      {"CORE-EV-05", "was closed and is open again", 36,
       [] {
         const auto timer = make_timer(current_runtime(), 1h);
         timer->close();
         suspend();
         const FlippedClosed closed(*timer);
         go_on();
       }},
      {"CORE-EV-06", "fires while it is open", 0, [] { fire_open_timer(TimerMode::Once); }},
      {"CORE-EV-16", "fires after it was stopped", 0, [] { fire_open_timer(TimerMode::Periodic); }},
      {"CORE-CB-04", "a subscriber of Timer #", 1,
       [] {
         const auto timer = make_timer(current_runtime(), 1h);
         const auto watch = subscribe(*timer, [](Event&, const fermata::Outcome&) {});
         backend::Callback* subscriber = nullptr;
         timer->callbacks().for_each([&](const backend::Callback& each) {
           subscriber = const_cast<backend::Callback*>(&each);
         });
         Event* const nothing = nullptr;
         const Changed event(private_of<test::EventOfCallback>(*subscriber), nothing);
         go_on();
       }},
      {"CORE-CB-06", "references, not 2", 38,
       damaged([](CoroutineBase& c) { c.waker().first()->add_ref(); },
               [](CoroutineBase& c) { c.waker().first()->release(); })},

      // --- waits ---
      {"CORE-GL-01", "waits for nothing: it is lost", 38,
       damaged([](CoroutineBase& c) { c.waker().unsubscribe(); })},
      {"CORE-GL-02", "and does not wait for it", 5,
       damaged(
           [](CoroutineBase& c) {
             c.waker().first()->source().stop();
             c.waker().first()->source().start();
             c.waker().status = backend::WakerStatus::Result;
           },
           [](CoroutineBase& c) { c.waker().status = backend::WakerStatus::Waiting; })},
      {"CORE-GL-04", "waiters are out of order: Mutex 'ledger'", 38,
       [] {
         Mutex mutex("ledger");
         const Mutex::Guard held(mutex);
         const auto lock = [&] { const Mutex::Guard guard(mutex); };
         const auto first = spawn("first", lock);
         suspend();
         auto& line = (fermata::detail::Primitive&)mutex;  // No other cast reaches a private base.
         private_of<test::NextTicket>(private_of<test::LineOfPrimitive>(line)) = 0;
         const auto second = spawn("second", lock);
         go_on();
       }},
      {"CORE-GL-09", "is unwound by force although the run is not ending", 1,
       [] { wait(*spawn("victim", [] { throw ForcedUnwind{}; })); }},
      {"CORE-WK-02", "coroutines are in the ready queue", 38,
       damaged(
           [](CoroutineBase& c) {
             c.waker().unsubscribe();
             c.waker().status = backend::WakerStatus::Queued;
           },
           [](CoroutineBase& c) { c.waker().status = backend::WakerStatus::Result; })},
      {.id = "CORE-WK-02",
       .says = "is in the ready queue and is waiting",
       .step = 5,
       .main = damaged([](CoroutineBase& c) { put_in_place_of_the_last(c); }),
       .recounts = true},
      {.id = "CORE-WK-02",
       .says = "is in the ready queue twice",
       .step = 5,
       .main = damaged(
           [](CoroutineBase&) {
             spawn("last", [] {});
             put_in_place_of_the_last(ready_queue()[0]);
           },
           [](CoroutineBase&) { ready_queue().take(ready_queue().size() - 1); }),
       .recounts = true},
      {"CORE-WK-03",
       "waits for Timer #",
       38,
       damaged([](CoroutineBase& c) {
         backend::Registration& registration = *c.waker().first();
         registration.source().remove_callback(registration);
       }),
       {"CORE-GL-03"}},
      {"CORE-WK-03",
       "still has registrations",
       38,
       damaged([](CoroutineBase& c) { c.waker().status = backend::WakerStatus::Result; },
               [](CoroutineBase& c) { c.waker().status = backend::WakerStatus::Waiting; }),
       {"CORE-GL-02"}},
      {"CORE-WK-03", "with neither a grant nor an error: it waits for Timer #", 2,
       [] {
         const auto sleeper = spawn("sleeper", [] { delay(1h); });
         suspend();
         trace(backend::Trace::Left, &current_coroutine());
         trace(backend::Trace::Entered, &*sleeper);
       }},
      {"CORE-WK-07", "with neither a grant nor an error", 3,
       [] {
         Mutex mutex("ledger");
         mutex.lock();
         const auto waiter = spawn("waiter", [&] { EXPECT_THROW(mutex.lock(), Error); });
         suspend();
         current_runtime().scheduler().wake(*waiter, nullptr, nullptr, nullptr,
                                            backend::WakeCause::Event);
         wait(*waiter);
         mutex.unlock();
       }},
      {"CORE-WK-09", "has left its wait and still holds its answer", 36,
       [] {
         int answer = 0;
         const auto done = spawn("done", [] {});
         suspend();
         const Changed<void*> result(done->waker().result, &answer);
         go_on();
       }},

      // --- coroutines ---
      {"CORE-CO-01", "runs after its end", 2,
       [] {
         const auto done = spawn("done", [] {});
         suspend();
         trace(backend::Trace::Left, &current_coroutine());
         trace(backend::Trace::Entered, &*done);
         suspend();
       }},
      {"CORE-CO-01", "is still registered", 38,
       damaged([](CoroutineBase& c) { flip_closed(c); }, [](CoroutineBase& c) { flip_closed(c); })},
      {"CORE-CO-02", "is", 36,
       [] {
         const auto done = spawn("done", [] {});
         suspend();
         const Changed status(done->waker().status, backend::WakerStatus::Result);
         go_on();
       }},
      {"CORE-CO-12", "the count of active coroutines is", 38,
       damaged([](CoroutineBase& c) { ++private_of<test::Zombies>(c.runtime().scheduler()); },
               [](CoroutineBase& c) { --private_of<test::Zombies>(c.runtime().scheduler()); })},

      // --- the scheduler ---
      {"CORE-SC-08", "the reactor may block", 0,
       [] {
         spawn("ready", [] {});
         trace(backend::Trace::Polled, nullptr, 1);
         suspend();
       }},
      {"CORE-SC-08", "or nothing can come", 0,
       [] {
         trace(backend::Trace::Polled, nullptr, 1);
         suspend();
       }},
      {"CORE-SC-10", "while something can run or come", 0,
       [] {
         const auto timer = make_timer(current_runtime(), 1h);
         timer->start();
         trace(backend::Trace::DeadlockReported, nullptr, 1);
         suspend();
       }},
      {"CORE-SC-10", "while something can run or come", 0,
       [] {
         spawn("ready", [] {});
         trace(backend::Trace::DeadlockReported, nullptr, 2);
         suspend();
       }},
      {"CORE-SC-10", "a deadlock is reported though a timer is due", 0,
       [] {
         const auto timer = make_timer(current_runtime(), Duration::zero());
         timer->set_hidden(true);
         timer->start();
         trace(backend::Trace::Polled, nullptr, 0);
         trace(backend::Trace::DeadlockReported, nullptr, 1);
         suspend();
       }},
      {"CORE-SC-10", "a deadlock is reported though a timer is due", 1,  // Nobody has looked.
       [] {
         const auto timer = make_timer(current_runtime(), Duration::zero());
         timer->set_hidden(true);
         suspend();
         timer->start();
         trace(backend::Trace::DeadlockReported, nullptr, 1);
         suspend();
       }},
      {"CORE-SC-12", "a deadlock of 7 coroutines is reported, there are 1", 0,
       [] {
         trace(backend::Trace::DeadlockReported, nullptr, 7);
         suspend();
       }},
      {"CORE-SC-21", "gains control while Coroutine 1 'main'", 0,
       [] {
         const auto other = spawn("other", [] {});
         trace(backend::Trace::Entered, &*other);
         suspend();
       }},
      {"CORE-SC-21", "gives up control without having it", 2,
       [] {
         const auto other = spawn("other", [] { suspend(); });
         suspend();
         trace(backend::Trace::Left, &*other);
         suspend();
       }},

      // --- timers ---
      {"TMR-04", "the queue of 1 timers is out of order", 38,
       damaged([](CoroutineBase& c) { ++private_of<test::PlaceOfTimer>(timer_of(c)); },
               [](CoroutineBase& c) { --private_of<test::PlaceOfTimer>(timer_of(c)); })},

      // --- scopes ---
      {"CORE-SP-01", "active members, there are", 38,
       damaged([](CoroutineBase& c) { ++private_of<test::ZombiesOfScope>(c.scope()); },
               [](CoroutineBase& c) { --private_of<test::ZombiesOfScope>(c.scope()); })},
      {"CORE-SP-01", "busy children, there are 0", 38,
       damaged([](CoroutineBase& c) { ++private_of<test::BusyChildren>(c.scope()); },
               [](CoroutineBase& c) { --private_of<test::BusyChildren>(c.scope()); })},
      {"CORE-SP-01", "live children, there are 0", 38,
       damaged([](CoroutineBase& c) { ++private_of<test::LiveChildren>(c.scope()); },
               [](CoroutineBase& c) { --private_of<test::LiveChildren>(c.scope()); })},
      {"CORE-SP-01", "where it does not belong", 38,
       [] {
         const Scope elsewhere = Scope::detached("elsewhere");
         const Changed scope(private_of<test::ScopeOfCoroutine>(current_coroutine()), &*elsewhere);
         go_on();
       }},
      {"CORE-SP-02", "is idle with", 38,
       damaged([](CoroutineBase& c) { private_of<test::BusyScope>(c.scope()) = false; },
               [](CoroutineBase& c) { private_of<test::BusyScope>(c.scope()) = true; })},
      {"CORE-SP-11", "is closed and has", 38,
       damaged([](CoroutineBase& c) { flip_closed(c.scope()); },
               [](CoroutineBase& c) { flip_closed(c.scope()); })},
      {"CORE-SP-11", "which is closed", 37,
       [] {
         const Scope parent = Scope::detached("parent");
         const Scope child = Scope::inherit("child", parent);
         const FlippedClosed closed(*parent);
         go_on();
       }},
  };
}

}  // namespace fermata::properties
