// SPDX-License-Identifier: Apache-2.0
#include "properties/interpreter/player.hpp"

#include <string>
#include <utility>

namespace fermata::properties {
namespace {

constexpr std::uint32_t kActionLimit = 500;
constexpr std::size_t kTaskLimit = 24;
constexpr std::size_t kListenerLimit = 48;
constexpr std::uint32_t kPeriodicFires = 5;

Duration ms(std::uint8_t number) { return std::chrono::milliseconds(number); }

/// Counters that a wait without suspension leaves as they are (CORE-WK-08).
struct Footprint {
  explicit Footprint(const Metrics& metrics)
      : switches(metrics.switches), ticks(metrics.ticks), polls(metrics.polls) {}
  std::uint64_t switches;
  std::uint64_t ticks;
  std::uint64_t polls;
  friend bool operator==(const Footprint&, const Footprint&) = default;
};

class ScriptTask final : public backend::Microtask {
 public:
  ScriptTask(ProgramState& state, Player& player, std::size_t number)
      : state_(state), player_(player), number_(number) {}
  void run() override {
    ++state_.microtasks_run;
    player_.play_callback(number_, nullptr);
  }

 private:
  ProgramState& state_;
  Player& player_;
  std::size_t number_;
};

void wake_when_closed(backend::Registration& registration, Event& event, const Outcome& outcome) {
  if (!event.is_closed()) return;
  event.runtime().scheduler().wake(registration.coroutine(), &event, outcome.result, nullptr,
                                   backend::WakeCause::Event);
}

}  // namespace

// --- what it plays with ---

ProgramState::~ProgramState() {
  for (Listener* listener : listeners) {
    if (Event* event = listener->event()) event->remove_callback(*listener);
    listener->release();
  }
}

SharedEvent* ProgramState::shared(std::uint64_t serial) noexcept {
  for (SharedEvent& each : events) {
    if (each.serial == serial) return &each;
  }
  return nullptr;
}

Task* ProgramState::task(std::uint64_t serial) noexcept {
  for (Task& each : tasks) {
    if (each.serial == serial) return &each;
  }
  return nullptr;
}

void Listener::run(Event& event, const Outcome&) {
  ++calls_;
  state_.turn = 0;  // It is this one that was called, and no waiter.
  if (role_ == Role::End) {
    state_.tasks[number_].life.observed_end();
    return;
  }
  if (replaying) return player_.play_callback(number_, nullptr);
  SharedEvent* shared = state_.shared(event.serial());
  state_.complain(shared->callbacks.call(id_));
  struct Returned {
    SharedEvent& event;
    ~Returned() { event.callbacks.returned(); }
  } const returned{*shared};
  if (role_ == Role::Janitor) {
    if (shared->fires >= kPeriodicFires) event.close();
    return;
  }
  if (shared->kind == ProgramEvent::Once && !event.is_closed()) {
    state_.complain("CORE-EV-06 (ONCE): a one-shot is not closed when its subscribers run");
  }
  const detail::NoSuspend guard(state_.runtime());
  player_.play_callback(number_, shared);
}

void Player::create_events() {
  Runtime& runtime = state_.runtime();
  for (const ProgramEvent kind : state_.program.events) {
    SharedEvent& shared = state_.events.emplace_back();
    shared.kind = kind;
    const Duration span = std::chrono::milliseconds(1 + state_.events.size());
    Ref<Event> event;
    switch (kind) {
      case ProgramEvent::Signal:
      case ProgramEvent::Promise:
        event = Ref<Event>::adopt(*new PlainEvent(runtime, kind == ProgramEvent::Promise));
        break;
      case ProgramEvent::Once:
        event = Ref<Event>::adopt(*make_timer(runtime, span).detach());
        break;
      case ProgramEvent::Periodic:
        event = Ref<Event>::adopt(*make_timer(runtime, span, TimerMode::Periodic).detach());
        break;
      case ProgramEvent::Multishot:
      case ProgramEvent::Hidden:
        event = Ref<Event>::adopt(*make_timer(runtime, span, TimerMode::Multishot).detach());
        event->set_hidden(kind == ProgramEvent::Hidden);
        break;
    }
    shared.event = event.get();
    shared.serial = event->serial();
    shared.holders.hold();
    shared.references.push_back(std::move(event));
    if (kind == ProgramEvent::Periodic) {
      subscribe(*shared.event, Listener::Role::Janitor, 0, &shared);
    }
  }
}

SharedEvent* Player::usable(std::uint8_t subject) {
  SharedEvent& shared = state_.events[subject % state_.events.size()];
  return shared.usable() ? &shared : nullptr;
}

Listener& Player::subscribe(Event& event, Listener::Role role, std::size_t number,
                            SharedEvent* shared) {
  const auto id = static_cast<std::uint32_t>(state_.listeners.size());
  auto* listener = new Listener(state_, *this, role, id, number);
  listener->add_ref();
  state_.listeners.push_back(listener);
  if (shared != nullptr && event.is_closed()) {
    const bool replays = event.replay() != nullptr;
    listener->replaying = true;
    const bool kept = event.add_callback(*listener);
    if (kept || listener->calls() != (replays ? 1 : 0)) {
      state_.complain("CORE-EV-08 (WAKE): a subscription to a closed event was kept, or not told");
    }
    return *listener;
  }
  if (shared != nullptr) shared->callbacks.add(id);
  event.add_callback(*listener);
  return *listener;
}

// --- scripts ---

void Player::play_main() {
  create_events();
  Task& main = state_.tasks.emplace_back();
  CoroutineBase& self = current_coroutine();
  main.serial = self.serial();
  main.at_end = &subscribe(self, Listener::Role::End, 0, nullptr);
  play_body(main);
}

void Player::play_body(Task& me) {
  state_.complain(me, me.life.entered());
  const Steps& steps = state_.program.bodies[me.body];
  play(me, steps, 0, steps.size());
}

void Player::play(Task& me, const Steps& steps, std::size_t from, std::size_t to) {
  for (std::size_t at = from; at < to; ++at) {
    if (++state_.actions > kActionLimit) return;
    const Step& step = steps[at];
    if (op_of(step) == Op::Protect || op_of(step) == Op::Catch) {
      const std::size_t end = std::min(to, at + 1 + step.number);
      if (op_of(step) == Op::Protect) {
        protect_steps(me, steps, at + 1, end);
      } else {
        catch_steps(me, steps, at + 1, end, step.subject % 2 == 1);
      }
      at = end - 1;
    } else {
      play_step(me, step);
    }
  }
}

void Player::protect_steps(Task& me, const Steps& steps, std::size_t from, std::size_t to) {
  bool ended = false;
  const auto leave = [&] {
    --me.protect_depth;
    ended = true;
  };
  const auto check = [&](bool thrown) {
    if (me.protect_depth > 0) return;
    const bool expected = std::exchange(me.deferred, false);
    me.protection_cleared = false;
    if (expected && !thrown) {
      state_.complain(me,
                      "CORE-CO-06 (CANC): the cancellation that waited for the end of a "
                      "protected region was not thrown there");
    }
  };
  ++me.protect_depth;
  try {
    protect([&] {
      try {
        play(me, steps, from, to);
      } catch (...) {
        leave();
        throw;
      }
      leave();
    });
  } catch (const ForcedUnwind&) {
    throw;
  } catch (...) {
    if (!ended) leave();
    delivered(std::current_exception());
    check(is_cancellation(std::current_exception()));
    throw;
  }
  check(false);
}

void Player::catch_steps(Task& me, const Steps& steps, std::size_t from, std::size_t to,
                         bool suspends) {
  const auto suspend_inside = [&] {
    const std::exception_ptr before = std::current_exception();
    delivered(before);
    if (!suspends) return;
    Expectation expected;
    expected.suspends = true;
    attempt(me, expected, [] { suspend(); });
    if (std::current_exception() != before) {
      state_.complain(me,
                      "CORE-WK-14 (ERR): another exception is current after a suspension "
                      "inside a catch block");
    }
  };
  try {
    play(me, steps, from, to);
  } catch (const Cancellation&) {
    suspend_inside();
  } catch (const Error&) {
    suspend_inside();
  }
}

void Player::play_callback(std::size_t number, SharedEvent* event, bool may_suspend) {
  const auto& callbacks = state_.program.callbacks;
  for (const Step& step : callbacks[number % callbacks.size()]) {
    if (++state_.actions > kActionLimit) return;
    if (op_of(step) == Op::Throw) {
      if (event == nullptr || event->is_timer()) continue;
      ++event->thrown;
      throw_step();
    }
    if (op_of(step) == Op::Suspend) {
      if (may_suspend) {
        suspend();
        continue;
      }
      try {
        suspend();
        state_.complain("CORE-SC-19 (ONCE): a callback could suspend");
      } catch (const UsageError&) {
      }
      continue;
    }
    play_anywhere(step);
  }
}

// --- steps ---

void Player::play_step(Task& me, const Step& step) {
  Expectation expected;
  expected.suspends = true;
  switch (op_of(step)) {
    case Op::Suspend:
      attempt(me, expected, [] { suspend(); });
      return;
    case Op::Delay:
      return delay_step(me, ms(step.number));
    case Op::Await:
      return await_step(me, step);
    case Op::Wait:
      return wait_step(me, step);
    case Op::WaitClosed:
      return wait_closed_step(me, step);
    case Op::Throw:
      if (me.index != 0) throw_step();
      return;
    case Op::Finally:
      return finally_step(me, step);
    case Op::Consume:
      return state_.arena.clock().advance(ms(step.number));
    default:
      play_anywhere(step);
  }
}

/// Steps that never suspend; nothing for others.
void Player::play_anywhere(const Step& step) {
  switch (op_of(step)) {
    case Op::Spawn:
      return spawn_step(step);
    case Op::Cancel:
      return cancel_step(step);
    case Op::Subscribe:
      return subscribe_step(step);
    case Op::Unsubscribe:
      return unsubscribe_step(step);
    case Op::Microtask:
      return microtask_step(step);
    case Op::Shutdown:
      return state_.runtime().shutdown();
    default:
      break;
  }
  SharedEvent* shared = usable(step.subject);
  if (shared == nullptr) return;
  switch (op_of(step)) {
    case Op::Notify:
      return fire_step(*shared, false);
    case Op::Close:
      return fire_step(*shared, true);
    case Op::Start:
      return start_step(*shared);
    case Op::Stop:
      return stop_step(*shared);
    case Op::Rearm:
      return rearm_step(*shared, ms(step.number));
    case Op::Hold:
      shared->holders.hold();
      return shared->references.push_back(Ref<Event>::share(*shared->event));
    case Op::Drop:
      return drop_step(*shared);
    default:
      return;
  }
}

void Player::spawn_step(const Step& step) {
  const std::size_t bodies = state_.program.bodies.size();
  if (bodies < 2 || state_.tasks.size() >= kTaskLimit) return;
  if (!current_scope().is_open()) return expect_refused_spawn();
  Task& task = state_.tasks.emplace_back();
  task.index = static_cast<std::uint32_t>(state_.tasks.size() - 1);
  task.body = 1 + step.subject % (bodies - 1);
  state_.spawning = &task;
  SpawnOptions options;
  options.name = Name("c" + std::to_string(task.index));
  options.priority = step.number == 7 ? Priority::High : Priority::Normal;
  const bool doomed = current_runtime().scheduler().is_shutting_down();
  task.handle = spawn(std::move(options), [this, &task, doomed] {
    if (doomed) state_.complain(task, "CORE-SC-13 (SHUT): spawned in a shutdown, it has started");
    try {
      play_body(task);
    } catch (const PlannedError& error) {
      task.failed = true;
      task.error_number = error.number;
      state_.errors[error.number].escaped = true;
      throw;
    }
  });
  if (task.life.is_started()) state_.complain("CORE-CO-17 (ORDER): spawn ran the body at once");
  task.at_end = &subscribe(*task.handle, Listener::Role::End, task.index, nullptr);
}

void Player::expect_refused_spawn() {
  try {
    spawn([] {});
  } catch (const UsageError&) {
    return;
  }
  state_.complain("CORE-SP-07 (SHUT): a scope that is not open has taken a member");
}

void Player::cancel_step(const Step& step) {
  if (state_.tasks.size() < 2) return;
  Task& target = state_.tasks[1 + step.subject % (state_.tasks.size() - 1)];
  if (!target.handle) return;
  CoroutineBase& coroutine = *target.handle;
  const bool finished = coroutine.is_closed();
  const std::exception_ptr before = coroutine.error();
  if (target.protect_depth > 0 && !target.protection_cleared && !finished &&
      !target.life.must_throw()) {
    target.deferred = true;
  }
  coroutine.cancel();
  if (step.number == 7) coroutine.cancel();
  if (finished && coroutine.error() != before) {
    state_.complain(target,
                    "CORE-CO-04 (CANC): cancel changed the outcome of a finished coroutine");
  }
}

void Player::subscribe_step(const Step& step) {
  SharedEvent* shared = usable(step.subject);
  if (shared == nullptr || state_.listeners.size() >= kListenerLimit) return;
  subscribe(*shared->event, Listener::Role::Scripted, step.number, shared);
}

void Player::unsubscribe_step(const Step& step) {
  std::vector<std::pair<SharedEvent*, std::uint32_t>> subscribed;
  for (SharedEvent& shared : state_.events) {
    if (!shared.usable()) continue;
    for (const std::uint32_t id : shared.callbacks.subscribed()) {
      if (state_.listeners[id]->role() == Listener::Role::Scripted) {
        subscribed.emplace_back(&shared, id);
      }
    }
  }
  if (subscribed.empty()) return;
  const auto [shared, id] = subscribed[step.subject % subscribed.size()];
  Listener& listener = *state_.listeners[id];
  shared->callbacks.remove(id);
  state_.removing = true;
  const bool removed = shared->event->remove_callback(listener);
  const bool again = shared->event->remove_callback(listener);
  state_.removing = false;
  if (!removed || again) {
    state_.complain("CORE-CB-12 (REF): removing a callback gives true, doing so again false");
  }
}

void Player::fire_step(SharedEvent& shared, bool close) {
  if (shared.is_timer() || shared.event->is_closed()) return;
  if (!close && shared.kind == ProgramEvent::Promise) return;
  auto& event = static_cast<PlainEvent&>(*shared.event);
  const auto keep = Ref<Event>::share(event);
  ++shared.notified;
  for (Task& task : state_.tasks) task.wait.fired(shared.serial, close);
  const std::uint32_t thrown_before = shared.thrown;
  const bool outermost = !event.callbacks().in_pass();
  bool surfaced = false;
  try {
    close ? event.complete() : event.notify({});
  } catch (const PlannedError&) {
    surfaced = true;
    delivered(std::current_exception());
  }
  if (!outermost) return;
  state_.turn = 0;
  state_.complain(shared.callbacks.end_pass());
  if (shared.thrown > thrown_before && !surfaced) {
    state_.complain("CORE-CB-09 (ERR): what a callback threw did not surface");
  }
}

void Player::start_step(SharedEvent& shared) {
  if (!shared.is_timer()) return;
  if (!shared.event->is_closed()) ++shared.starts;
  shared.event->start();
}

void Player::stop_step(SharedEvent& shared) {
  Event& event = *shared.event;
  if (shared.starts > 0) {
    --shared.starts;
    event.stop();
  } else if (event.loop_ref_count() == 0) {
    const std::size_t active = state_.runtime().active_event_count();
    event.stop();
    if (state_.runtime().active_event_count() != active) {
      state_.complain("CORE-EV-04 (STOP): stopping a stopped event changed what is active");
    }
  }
}

void Player::rearm_step(SharedEvent& shared, Duration timeout) {
  if (!shared.is_multishot() || shared.event->is_closed()) return;
  auto& timer = static_cast<Timer&>(*shared.event);
  const bool stopped = timer.loop_ref_count() == 0;
  timer.rearm(timeout);
  if (stopped) {
    ++shared.starts;
  } else {
    state_.timers.disarm(shared.serial);
    state_.timers.arm(shared.serial, state_.runtime().now() + timeout);
  }
}

void Player::drop_step(SharedEvent& shared) {
  const Ref<Event> last = std::move(shared.references.back());
  shared.references.pop_back();
  shared.holders.drop();
}

void Player::finally_step(Task& me, const Step& step) {
  const std::uint32_t position = me.life.finally_registered();
  me.life.register_finally();
  const bool suspends = step.subject % 2 == 1;
  current_coroutine().finally([this, &me, position, step, suspends](CoroutineBase&) {
    state_.complain(me, me.life.ran_finally(position));
    play_callback(step.number, nullptr, true);
    if (suspends) suspend();
  });
}

void Player::microtask_step(const Step& step) {
  auto* task = new ScriptTask(state_, *this, step.number);
  ++state_.microtasks_queued;
  state_.runtime().queue_microtask(*task);
  task->release();
}

void Player::throw_step() {
  const std::uint32_t number = state_.next_error++;
  state_.errors[number];
  throw PlannedError(number);
}

// --- waits ---

void Player::delivered(const std::exception_ptr& error) {
  for (const std::exception_ptr& each : chain_of(error)) {
    try {
      std::rethrow_exception(each);
    } catch (const PlannedError& planned) {
      ++state_.errors[planned.number].delivered;
    } catch (...) {
    }
  }
}

void Player::check_clean(Task& me) {
  const backend::Waker& waker = current_coroutine().waker();
  if (waker.status != backend::WakerStatus::None || !waker.empty() || waker.error || waker.result) {
    state_.complain(me, std::string("CORE-WK-09 (ONCE): a wait is over, but its waker is ") +
                            to_string(waker.status) +
                            (waker.empty() ? "" : " and still subscribed"));
  }
}

void Player::told(Task& me) {
  delivered(std::current_exception());
  check_clean(me);
  if (me.protect_depth > 0 && !me.protection_cleared && !me.must_end) {
    state_.complain(me, "CORE-CO-06 (CANC): cancelled inside a protected region");
  }
  state_.complain(me, me.life.told(me.must_end));
}

void Player::told_of_another(Task& me, const Expectation& expected,
                             const AwaitedCancelled& awaited) {
  delivered(std::current_exception());
  check_clean(me);
  const std::exception_ptr error =
      expected.awaited != nullptr ? expected.awaited->error() : nullptr;
  if (error == nullptr || (error != awaited.previous() && error != std::current_exception())) {
    state_.complain(me, "CORE-CN-02 (CANC): it does not wait for what was cancelled");
  }
  state_.complain(me, me.life.told_of_another());
}

template <class Wait>
Player::End Player::attempt(Task& me, const Expectation& expected, Wait wait) {
  const Footprint before(state_.runtime().metrics());
  const int uncaught = std::uncaught_exceptions();
  const bool must_throw =
      expected.suspends && me.life.must_throw() && (me.protect_depth == 0 || me.protection_cleared);
  if (!expected.events.empty()) me.wait.begin(expected.events, expected.only_close);
  End end = End::Answered;
  try {
    wait();
  } catch (const ForcedUnwind&) {
    state_.unwound = true;
    throw;
  } catch (const OperationCancelled&) {
    end = End::TokenFired;
    state_.complain(me, me.life.told_of_another());
    if (!expected.has_token) state_.complain(me, "CORE-CN-02 (CANC): a token that is not there");
  } catch (const AwaitedCancelled& awaited) {
    me.wait.end();
    told_of_another(me, expected, awaited);
    return End::Failed;
  } catch (const Cancellation&) {
    me.wait.end();
    told(me);
    throw;
  } catch (const Timeout&) {
    end = End::TimedOut;
  } catch (const PlannedError& error) {
    end = End::Failed;
    state_.errors[error.number].taken = true;
    delivered(std::current_exception());
  } catch (const UsageError&) {
    end = End::Refused;
  }
  me.wait.end();
  state_.complain(me, me.life.went_on());
  if (must_throw) {
    state_.complain(me, "CORE-CO-14 (CANC): it cancelled itself, and its next wait went on");
  }
  check_clean(me);
  if (std::uncaught_exceptions() != uncaught) {
    state_.complain(me, "CORE-GL-14 (ERR): a suspension changed the exceptions in flight");
  }
  if (expected.already_closed && !(before == Footprint(state_.runtime().metrics()))) {
    state_.complain(me, "CORE-EV-13 (WAKE): a wait for a closed event has suspended");
  }
  return end;
}

void Player::delay_step(Task& me, Duration span) {
  const Instant due = now() + span;
  Expectation expected;
  expected.suspends = true;
  attempt(me, expected, [span] { delay(span); });
  if (now() < due) state_.complain(me, "TMR-01 (TIME): a delay was shorter than asked for");
}

void Player::wait_for(Task& me, Event& event, const Step& step, Expectation expected) {
  WaitOptions options;
  const Patience patience = patience_of(step.number);
  if (patience == Patience::Never) options.timeout = Duration::zero();
  if (patience == Patience::Briefly)
    options.timeout = ms(static_cast<std::uint8_t>(step.number - 3));
  if (patience == Patience::WithToken) {
    SharedEvent* token = usable(static_cast<std::uint8_t>(step.subject + 1));
    if (token != nullptr && token->event != &event) {
      options.token = token->event;
      expected.events.push_back(token->serial);
      expected.has_token = true;
    }
  }
  expected.already_closed = event.is_closed();
  expected.suspends = !event.is_closed() && patience == Patience::ForEver;
  const bool replays = event.replay() != nullptr;
  const Instant due = now() + options.timeout.value_or(Duration::zero());
  const End end = attempt(me, expected, [&] { wait(event, options); });
  const bool refused = end == End::Refused;
  if (refused && !(expected.already_closed && !replays)) {
    state_.complain(me, "CORE-EV-13 (ERR): a wait for an open event was refused");
  }
  if (expected.already_closed && !replays && !refused) {
    state_.complain(me, "CORE-EV-13 (ERR): a wait for a closed event that keeps nothing went on");
  }
  if (end == End::TimedOut && now() < due) {
    state_.complain(me, "TMR-01 (TIME): a wait timed out early");
  }
}

void Player::await_step(Task& me, const Step& step) {
  if (state_.tasks.size() < 2) return;
  Task& target = state_.tasks[1 + step.subject % (state_.tasks.size() - 1)];
  if (&target == &me || !target.handle) return;
  Expectation expected;
  expected.events = {target.serial};
  expected.awaited = &*target.handle;
  wait_for(me, *target.handle, step, expected);
}

void Player::wait_step(Task& me, const Step& step) {
  SharedEvent* shared = usable(step.subject);
  if (shared == nullptr) return;
  const auto keep = shared->event;
  Expectation expected;
  expected.events = {shared->serial};
  wait_for(me, *keep, step, std::move(expected));
}

void Player::wait_closed_step(Task& me, const Step& step) {
  SharedEvent* shared = usable(step.subject);
  if (shared == nullptr || shared->is_timer() || shared->event->is_closed()) return;
  Expectation expected;
  expected.events = {shared->serial};
  expected.only_close = true;
  expected.suspends = true;
  attempt(me, expected, [&] {
    backend::Waker& waker = current_coroutine().waker();
    waker.clear();
    waker.resume_when(*shared->event, backend::WakeRule::Custom, false, &wake_when_closed);
    state_.runtime().scheduler().suspend(SourcePlace::current());
    waker.clear();
  });
}

}  // namespace fermata::properties
