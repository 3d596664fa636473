// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a loop keeps for each callback: its flags, its function, and the event that it comes from.
//
// Lists     Every source is in the list of all. Besides, at most one of: to be activated,
//           collected, and ready.
// Lifetime  One that is cancelled while its function runs lives until the function has returned;
//           then the function dies where it ran.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <utility>
#include <variant>

#include "fermata/base/intrusive_list.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/loop/callback.hpp"
#include "fermata/loop/signal_claim.hpp"
#include "fermata/reactor/poll.hpp"
#include "fermata/reactor/signal.hpp"

namespace fermata::loop::detail {

class Machine;

/// The queue of the machine that a source stands in.
enum class Line : std::uint8_t { None, Enabling, Collected, Ready };

struct Source {
  Source() noexcept {}  // Not defaulted: nothing is written twice.

  CallbackId id = 0;
  CallbackKind kind = CallbackKind::Defer;
  Line line = Line::None;
  bool enabled = true;
  bool referenced = true;
  bool invokable = false;  // Activated: what happens counts.
  bool watched = false;    // Its event is started, or its deadline is in the queue.
  bool masked = false;     // A call of it is suspended.
  bool ended = false;      // Its descriptor has had a terminal event: the watch must begin anew.
  bool cancelled = false;
  std::uint32_t calls = 0;    // That have not returned.
  int value = -1;             // The descriptor or signal.
  std::uint32_t pending = 0;  // Signals or notices since the last call.
  std::uint32_t count = 0;    // Signals that the last call stands for.
  SourcePlace place;
  std::variant<TimedFunction, SourceFunction> function;
  std::exception_ptr failure;  // Why it could not be activated.
  fermata::detail::Link<Source> all_link;
  fermata::detail::Link<Source> line_link;

  [[nodiscard]] bool is_timed() const noexcept {
    return kind == CallbackKind::Delay || kind == CallbackKind::Repeat;
  }
  [[nodiscard]] bool polls() const noexcept {
    return kind == CallbackKind::Readable || kind == CallbackKind::Writable;
  }
  void call() {
    if (auto* timed_function = std::get_if<TimedFunction>(&function)) {
      (*timed_function)(id);
    } else {
      std::get<SourceFunction>(function)(id, value);
    }
  }
  [[nodiscard]] CallbackInfo info() const;

  using All = fermata::detail::IntrusiveList<Source, &Source::all_link>;
  using Queue = fermata::detail::IntrusiveList<Source, &Source::line_link>;
};

/// Delays and repeats. Theirs is a place in the machine's queue of deadlines, not an event.
struct TimerSource : Source {
  TimerSource() noexcept {}

  Duration span = Duration::zero();
  Instant deadline;
  std::uint64_t arming = 0;  // Position in the order of arming.
};

/// Fires when the first timer of a loop is due.
class Alarm final : public fermata::Timer {
 public:
  explicit Alarm(Machine& machine);
  /// never() for not at all.
  void set(Instant deadline);

 private:
  void arm() override { arm_until(deadline_); }
  static void fired(Event& event, const Outcome& outcome);

  Machine& machine_;
  Instant deadline_ = Instant::never();
};

/// Tells the machine that a source's event has fired.
class FireCallback final : public fermata::backend::Callback {
 public:
  FireCallback(Machine& machine, Source& source) noexcept : machine_(machine), source_(source) {
    add_ref();
  }
  void run(Event& event, const Outcome& outcome) override;

 private:
  void destroy() noexcept override {}

  Machine& machine_;
  Source& source_;
};

struct PollSource : Source {
  PollSource(Machine& machine, backend::Poll& poll, PollMask mask)
      : proxy(std::in_place, poll, mask), callback(machine, *this) {
    proxy->set_hidden(true);
    proxy->set_asks_for_file(true);  // Before each call.
    proxy->add_callback(callback);
  }
  std::optional<backend::PollProxy>
      proxy;  // Empty once cancelled: the descriptor may be closed then.
  FireCallback callback;
  fermata::detail::Link<PollSource> watch_link;

  using Watched = fermata::detail::IntrusiveList<PollSource, &PollSource::watch_link>;
};

struct SignalSource : Source {
  SignalSource(Machine& machine, backend::Signals& signals, int signum)
      : event(signals, signum),
        claim(std::in_place, signals.owners(), signum, &machine),
        callback(machine, *this) {
    event.set_hidden(true);
    event.add_callback(callback);
  }
  backend::SignalEvent event;
  std::optional<SignalClaim> claim;  // Empty once cancelled.
  FireCallback callback;
};

inline CallbackInfo Source::info() const {
  const Duration span = is_timed() ? static_cast<const TimerSource&>(*this).span : Duration::zero();
  return {id, kind, enabled, referenced, masked, value, span, place};
}

}  // namespace fermata::loop::detail
