// SPDX-License-Identifier: Apache-2.0
#include "properties/zoo/scene.hpp"

namespace fermata::properties::zoo {

void complain(sim::World& world, const std::string& what) {
  world.fail(sim::Verdict::Safety, what);
}

Ref<PlainEvent> make_event(bool keeps) {
  return Ref<PlainEvent>::adopt(*new PlainEvent(current_runtime(), keeps));
}

bool sleeps(const Coroutine<>& coroutine) {
  return coroutine->waker().status == backend::WakerStatus::Waiting;
}

void expect_awake(sim::World& world, const std::vector<Coroutine<>>& waiters) {
  for (const Coroutine<>& waiter : waiters) {
    if (sleeps(waiter)) {
      complain(world, "WAKE (CORE-CB-01): " + waiter->label() +
                          " sleeps on though the event it waits for has fired");
    }
  }
}

void wait_until_closed(Event& event) {
  if (event.is_closed()) return;
  backend::Waker& waker = current_coroutine().waker();
  waker.clear();
  waker.resume_when(event, backend::WakeRule::Custom, false,
                    [](backend::Registration& registration, Event& source, const Outcome&) {
                      if (!source.is_closed()) return;
                      source.runtime().scheduler().wake(registration.coroutine(), &source, nullptr,
                                                        nullptr, backend::WakeCause::Event);
                    });
  current_runtime().scheduler().suspend(SourcePlace::current());
  waker.clear();
}

void cancelled_or_done(const Coroutine<>& coroutine) {
  try {
    await(coroutine);
  } catch (const Cancellation&) {
  }
}

}  // namespace fermata::properties::zoo
