// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/loop/machine.hpp"

namespace fermata::loop::detail {

namespace {

/// Names the draws of TieOrder::Drawn.
constexpr std::uint64_t kTieDraw = 0x6c6f6f70207469ULL;

const TimerSource& timer(const Source& source) noexcept {
  return static_cast<const TimerSource&>(source);
}

/// Whether `a` is called before `b`, which came from the same kind of event.
bool earlier(const Source* a, const Source* b) noexcept {
  if (a->is_timed()) {
    const TimerSource& one = timer(*a);
    const TimerSource& other = timer(*b);
    return one.deadline != other.deadline ? one.deadline < other.deadline
                                          : one.arming < other.arming;
  }
  if (a->kind == CallbackKind::Signal && a->value != b->value) return a->value < b->value;
  return a->id < b->id;
}

/// Whether the contract leaves open which of the two is called first.
bool tied(const Source* a, const Source* b) noexcept {
  if (a->is_timed()) return timer(*a).deadline == timer(*b).deadline;
  return a->kind != CallbackKind::Signal || a->value == b->value;
}

std::size_t draw_below(backend::Chooser& chooser, std::size_t bound) {
  return static_cast<std::size_t>(
      chooser.draw({.key = kTieDraw, .bound = bound, .what = backend::ProgramDraw::What::Tie}));
}

void shuffle_ties(std::vector<Source*>& sources, backend::Chooser& chooser) {
  for (std::size_t first = 0; first < sources.size(); ++first) {
    std::size_t end = first + 1;
    while (end < sources.size() && tied(sources[first], sources[end])) ++end;
    if (end - first > 1)
      std::swap(sources[first], sources[first + draw_below(chooser, end - first)]);
  }
}

}  // namespace

bool Machine::is_interrupted() const noexcept {
  return !errors_.empty() || (main_ != nullptr && main_->state == FiberState::Scheduled);
}

// Until `me` is not the driver any more: because the run has ended, or because its callback has
// suspended.
void Machine::drive(Runner& me) {
  FERMATA_ASSERT(drives(me));
  for (;;) {
    if (!drain(me)) return;
    if (is_interrupted()) return finish();
    if (polls_next_) {
      polls_next_ = false;
      turn();
      if (!drives(me)) return;
      collect();
    } else if (stop_) {
      return finish();
    } else if (!empty()) {
      begin_tick();
    } else if (serving_) {
      idle(me);
      if (!drives(me)) return;
    } else {
      return finish();
    }
  }
}

// What is ready, and all microtasks before each. False when `me` does not drive any more.
bool Machine::drain(Runner& me) {
  while (!is_interrupted()) {
    if (!microtasks_.empty()) {
      run_microtask(me);
    } else if (Source* const source = ready_.first()) {
      microtasks_in_a_row_ = 0;
      if (options.callbacks_per_turn != 0 && calls_in_a_row_ >= options.callbacks_per_turn) {
        turn();
        if (!drives(me)) return false;
        continue;
      }
      ++calls_in_a_row_;
      invoke(me, *source);
    } else {
      microtasks_in_a_row_ = 0;
      return true;
    }
    if (!drives(me)) return false;
  }
  return true;
}

// Activates what was registered or enabled; the defers among it are ready at once.
void Machine::begin_tick() {
  FERMATA_ASSERT(!polls_next_ && ready_.empty());
  idle_told_ = false;
  polls_next_ = true;
  for (std::size_t left = enabling_.size(); left > 0 && !enabling_.empty(); --left) {
    Source& source = *enabling_.first();
    FERMATA_ASSERT(source.line == Line::Enabling);
    enabling_.remove(source);
    try {
      activate(source);
    } catch (...) {
      source.invokable = false;
      source.failure = std::current_exception();
      push(source, Line::Ready);  // Where it is refused.
    }
  }
}

bool Machine::may_wait() const noexcept {
  const bool collected = std::any_of(collected_.begin(), collected_.end(),
                                     [](const Source::Queue& queue) { return !queue.empty(); });
  return !stop_ && !is_interrupted() && !empty() && !collected && microtasks_.empty() &&
         ready_.empty() && enabling_.empty();
}

// One turn of the reactor. Other coroutines may run meanwhile.
void Machine::turn() {
  static constexpr SourcePlace kPlace = {"event loop", "", 0};
  calls_in_a_row_ = 0;
  set_alarm();
  fermata::detail::Scheduler& scheduler = runtime.scheduler();
  if (may_wait()) {
    waiting_ = true;  // Until poke(); another driver may wait when this one goes on.
    scheduler.wait_for(parking_, kPlace);
  } else {
    scheduler.request_poll();
    scheduler.yield(kPlace);
  }
}

void Machine::set_alarm() { alarm_.set(deadlines_.earliest()); }

// Nothing keeps the loop alive, but its host may register more at any time.
void Machine::idle(Runner& me) {
  FERMATA_ASSERT(serving_ && empty());
  if (!std::exchange(idle_told_, true) && on_idle) return call_on_idle(me);
  static constexpr SourcePlace kPlace = {"event loop without work", "", 0};
  park_polls();
  waiting_ = true;
  parking_.set_hidden(options.hosted);  // The host need not stay for it.
  struct Show {
    Event& parking;
    ~Show() { parking.set_hidden(false); }
  } const show{parking_};
  runtime.scheduler().wait_for(parking_, kPlace);
  unpark_polls();
}

void Machine::sort_collected(Source::Queue& queue) {
  scratch_.clear();
  while (Source* const source = queue.first()) {
    FERMATA_ASSERT(source->line == Line::Collected && source->invokable);
    queue.remove(*source);
    source->line = Line::None;
    scratch_.push_back(source);
  }
  if (!std::is_sorted(scratch_.begin(), scratch_.end(), earlier)) {
    std::sort(scratch_.begin(), scratch_.end(), earlier);
  }
}

// What has happened becomes ready: timers, descriptors, signals.
void Machine::collect() {
  backend::Chooser* const chooser =
      options.ties == TieOrder::Drawn ? runtime.kernel().chooser : nullptr;
  std::array<std::size_t, 3> order = {0, 1, 2};
  if (chooser != nullptr) {
    for (std::size_t at = 0; at < 2; ++at) {
      const std::size_t left = order.size() - at;
      std::swap(order[at], order[at + draw_below(*chooser, left)]);
    }
  }
  for (const std::size_t index : order) {
    if (collected_[index].empty()) continue;
    sort_collected(collected_[index]);
    if (chooser != nullptr) shuffle_ties(scratch_, *chooser);
    for (Source* const source : scratch_) push(*source, Line::Ready);
  }
}

}  // namespace fermata::loop::detail
