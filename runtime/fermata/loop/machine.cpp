// SPDX-License-Identifier: Apache-2.0
#include "fermata/loop/machine.hpp"

#include <new>
#include <utility>

#include "fermata/base/assert.hpp"

namespace fermata::loop::detail {

// --- events ---

Alarm::Alarm(Machine& machine)
    : fermata::Timer(machine.runtime, Duration::zero(), TimerMode::Multishot), machine_(machine) {
  set_hidden(true);
  set_notify_handler(&Alarm::fired);
}

void Alarm::set(Instant deadline) {
  if (deadline == deadline_) return;
  stop();
  deadline_ = deadline;
  if (deadline != Instant::never()) start();
}

void Alarm::fired(Event& event, const Outcome&) {
  auto& alarm = static_cast<Alarm&>(event);
  alarm.deadline_ = Instant::never();
  alarm.machine_.on_alarm();
}

void FireCallback::run(Event& event, const Outcome& outcome) {
  const bool terminal = event.kind() == backend::EventKind::PollProxy &&
                        (outcome.error || any(static_cast<backend::PollProxy&>(event).triggered() &
                                              PollMask::Disconnect));
  machine_.on_fire(source_, terminal);
}

namespace {

/// Makes a source in a block of the runtime's.
template <class S, class... Args>
S& make(Runtime& runtime, Args&&... args) {
  void* const block = runtime.blocks().allocate(sizeof(S));
  try {
    return *::new (block) S(std::forward<Args>(args)...);
  } catch (...) {
    runtime.blocks().release(block, sizeof(S));
    throw;
  }
}

template <class S>
void destroy_as(Runtime& runtime, Source& source) noexcept {
  static_cast<S&>(source).~S();
  runtime.blocks().release(&static_cast<S&>(source), sizeof(S));
}

Event* event_of(Source& source) noexcept {
  switch (source.kind) {
    case CallbackKind::Readable:
    case CallbackKind::Writable:
      return &*static_cast<PollSource&>(source).proxy;
    case CallbackKind::Signal:
      return &static_cast<SignalSource&>(source).event;
    case CallbackKind::Defer:
    case CallbackKind::Delay:
    case CallbackKind::Repeat:
    case CallbackKind::Notice:
      break;
  }
  return nullptr;
}

}  // namespace

// --- registering ---

CallbackId Machine::add_plain(CallbackKind kind, TimedFunction&& function,
                              const SourcePlace& place) {
  Source& source = make<Source>(runtime);
  source.kind = kind;
  source.function.emplace<std::decay_t<decltype(function)>>(std::move(function));
  return adopt(source, place);
}

CallbackId Machine::add_timer(CallbackKind kind, Duration span, TimedFunction&& function,
                              const SourcePlace& place) {
  TimerSource& source = make<TimerSource>(runtime);
  source.kind = kind;
  source.span = span;
  count_from_now(source);
  source.function.emplace<std::decay_t<decltype(function)>>(std::move(function));
  return adopt(source, place);
}

CallbackId Machine::add_poll(CallbackKind kind, int descriptor, SourceFunction&& function,
                             const SourcePlace& place) {
  const Ref<backend::Poll> poll = runtime.reactor().polls().open(descriptor);
  const PollMask mask = kind == CallbackKind::Readable ? PollMask::Readable : PollMask::Writable;
  Source& source = make<PollSource>(runtime, *this, *poll, mask);
  source.kind = kind;
  source.value = descriptor;
  source.function.emplace<std::decay_t<decltype(function)>>(std::move(function));
  return adopt(source, place);
}

CallbackId Machine::add_signal(int signum, SourceFunction&& function, const SourcePlace& place) {
  Source& source = make<SignalSource>(runtime, *this, runtime.reactor().signals(), signum);
  source.kind = CallbackKind::Signal;
  source.value = signum;
  source.function.emplace<std::decay_t<decltype(function)>>(std::move(function));
  return adopt(source, place);
}

void Machine::count_from_now(TimerSource& timer) const {
  timer.deadline = runtime.now() + timer.span;
}

CallbackId Machine::adopt(Source& source, const SourcePlace& place) {
  source.id = next_id_++;
  source.place = place;
  if (closed_) {  // Some destructor does not know that its loop ends.
    const CallbackId id = source.id;
    destroy(source);
    return id;
  }
  try {
    table_.insert(source.id, source);
  } catch (...) {
    destroy(source);
    throw;
  }
  if (source.is_timed()) ++timers_;
  all_.push_back(source);
  ++alive_;
  push(source, Line::Enabling);
  if (options.tracer != nullptr) options.tracer->registered(source.info());
  poke();
  return source.id;
}

void Machine::forget(Source& source, const SourcePlace* place) noexcept {
  FERMATA_ASSERT(!source.cancelled && find(source.id) == &source);
  if (options.tracer != nullptr) options.tracer->ended(source.info(), place);
  deactivate(source);
  if (source.enabled && source.referenced) {
    FERMATA_ASSERT(alive_ > 0);
    --alive_;
  }
  if (source.is_timed()) {
    FERMATA_ASSERT(timers_ > 0);
    --timers_;
  }
  source.enabled = false;
  source.cancelled = true;
  table_.erase(source.id);
  all_.remove(source);
  if (source.calls == 0) {
    destroy(source);
  } else if (source.polls()) {
    static_cast<PollSource&>(source).proxy.reset();
  } else if (source.kind == CallbackKind::Signal) {
    static_cast<SignalSource&>(source).claim.reset();
  }
}

void Machine::destroy(Source& source) noexcept {
  FERMATA_ASSERT(source.calls == 0 && source.line == Line::None);
  switch (source.kind) {
    case CallbackKind::Delay:
    case CallbackKind::Repeat:
      return destroy_as<TimerSource>(runtime, source);
    case CallbackKind::Readable:
    case CallbackKind::Writable:
      return destroy_as<PollSource>(runtime, source);
    case CallbackKind::Signal:
      return destroy_as<SignalSource>(runtime, source);
    case CallbackKind::Defer:
    case CallbackKind::Notice:
      return destroy_as<Source>(runtime, source);
  }
}

// --- lines ---

std::size_t Machine::collected_index(CallbackKind kind) noexcept {
  switch (kind) {
    case CallbackKind::Delay:
    case CallbackKind::Repeat:
      return 0;
    case CallbackKind::Signal:
      return 2;
    default:
      return 1;
  }
}

Source::Queue& Machine::queue_of(const Source& source) noexcept {
  if (source.line == Line::Enabling) return enabling_;
  if (source.line == Line::Ready) return ready_;
  return collected_[collected_index(source.kind)];
}

void Machine::push(Source& source, Line line) noexcept {
  FERMATA_ASSERT(source.line == Line::None && line != Line::None);
  source.line = line;
  queue_of(source).push_back(source);
}

void Machine::leave_line(Source& source) noexcept {
  if (source.line == Line::None) return;
  queue_of(source).remove(source);
  source.line = Line::None;
}

// --- activity ---

void Machine::watch(Source& source) {
  if (source.watched) return;
  if (source.is_timed()) return deadlines_.push(static_cast<TimerSource&>(source));
  Event* const event = event_of(source);
  if (event == nullptr) return;
  event->start();
  source.watched = true;
  if (source.polls()) polls_.push_back(static_cast<PollSource&>(source));
}

void Machine::unwatch(Source& source) noexcept {
  if (!source.watched) return;
  if (source.is_timed()) {
    deadlines_.remove(static_cast<TimerSource&>(source));
    if (waiting_) set_alarm();
    return;
  }
  source.watched = false;
  if (source.polls()) polls_.remove(static_cast<PollSource&>(source));
  event_of(source)->stop();
}

void Machine::deactivate(Source& source) noexcept {
  leave_line(source);
  source.invokable = false;
  source.ended = false;
  source.pending = 0;
  source.failure = nullptr;
  unwatch(source);
}

void Machine::activate(Source& source) {
  FERMATA_ASSERT(source.enabled && !source.masked && !source.cancelled);
  source.line = Line::None;
  source.invokable = true;
  if (source.kind == CallbackKind::Defer) return push(source, Line::Ready);
  watch(source);
  if (source.pending > 0 && source.line == Line::None) push(source, Line::Collected);
}

void Machine::on_fire(Source& source, bool terminal) {
  if (source.kind == CallbackKind::Signal) ++source.pending;
  if (terminal) source.ended = true;
  if (source.masked || !source.invokable || source.line != Line::None) return;
  push(source, Line::Collected);
  poke();
}

void Machine::on_alarm() {
  const Instant now = runtime.now();
  while (TimerSource* const due = deadlines_.pop_due(now)) on_fire(*due, false);
  if (waiting_) set_alarm();
}

// --- control ---

Source& Machine::require(CallbackId id, const char* operation) const {
  if (Source* const source = find(id)) return *source;
  const std::string history = options.tracer != nullptr ? options.tracer->history(id) : "";
  throw InvalidCallback(operation, id, history);
}

void Machine::enable(CallbackId id) {
  Source& source = require(id, "enable");
  if (source.enabled) return;
  source.enabled = true;
  if (source.referenced) ++alive_;
  if (source.is_timed()) count_from_now(static_cast<TimerSource&>(source));
  if (!source.masked) push(source, Line::Enabling);
  poke();
}

void Machine::disable(CallbackId id) noexcept {
  Source* const source = find(id);
  if (source == nullptr || !source->enabled) return;
  source->enabled = false;
  if (source->referenced) let_go();
  deactivate(*source);
}

void Machine::cancel(Source& source, const SourcePlace& place) {
  forget(source, &place);
  if (empty()) poke();
}

void Machine::cancel_timers(const SourcePlace& place) {
  std::vector<CallbackId> timers;  // What a function holds may cancel others when it goes.
  timers.reserve(timers_);
  for (const Source* source = all_.first(); source != nullptr;
       source = Source::All::after(*source)) {
    if (source->is_timed()) timers.push_back(source->id);
  }
  for (const CallbackId id : timers) {
    if (Source* const source = find(id)) cancel(*source, place);
  }
}

void Machine::set_referenced(Source& source, bool referenced) noexcept {
  if (source.referenced == referenced) return;
  source.referenced = referenced;
  if (!source.enabled) return;
  if (!referenced) return let_go();
  ++alive_;
  poke();
}

void Machine::let_go() noexcept {
  FERMATA_ASSERT(alive_ > 0);
  if (--alive_ == 0) poke();
}

void Machine::notice(CallbackId id) {
  Source* const source = find(id);
  if (source == nullptr || source->kind != CallbackKind::Notice || !source->enabled) return;
  ++source->pending;
  on_fire(*source, false);
}

}  // namespace fermata::loop::detail
