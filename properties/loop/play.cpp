// SPDX-License-Identifier: Apache-2.0
#include "properties/loop/play.hpp"

#include <deque>
#include <exception>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "fermata/core/runtime.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/io/descriptor.hpp"
#include "properties/loop/outside.hpp"

namespace fermata::properties {

using models::LoopAct;
using models::LoopCall;
using models::LoopDeed;
using models::LoopModel;
using models::LoopRun;
using models::LoopScript;

namespace {

using loop::CallbackId;
using loop::InvalidCallback;
using loop::Loop;
using loop::LoopDeadlock;
using loop::Suspension;
using loop::SuspensionError;
using loop::Ticket;
using loop::UncaughtError;

struct Planned : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Player {
 public:
  Player(const LoopScript& script, const LoopStage& stage)
      : script_(script), stage_(stage), loop_(stage.loop), survivable_(signals()) {}

  std::vector<std::string> play() {
    begin_ = now();
    for (const LoopRun& run : script_.runs) {
      loop_.set_error_handler(nullptr);
      if (run.has_handler) {
        loop_.set_error_handler([this](const std::exception_ptr&) { note("handled"); });
      }
      act(run.before, 0);
      add_guard(run);
      try {
        if (run.suspends) {
          suspend();
        } else {
          note(stage_.run() ? "stopped" : "empty");
        }
      } catch (const UncaughtError&) {
        note("error");
      } catch (const LoopDeadlock&) {
        note("deadlock");
      }
      note(inventory());
      loop_.cancel(guard_);
    }
    end_everything();
    return std::move(notes_);
  }

 private:
  struct Kept {
    Suspension suspension;
    Ticket ticket;
  };
  static constexpr CallbackId kMicrotask = ~0ULL;

  backend::Signals& signals() { return loop_.runtime().reactor().signals(); }

  void note(const std::string& what) {
    if (ending_) return;
    const auto units = (now() - begin_) / stage_.unit;
    notes_.push_back(stage_.times ? what + "@" + std::to_string(units) : what);
  }

  /// What the loop says of itself: each callback, enabled and referenced or not.
  [[nodiscard]] std::string inventory() const {
    std::string text = std::to_string(loop_.suspended().size()) + " suspended, " +
                       std::to_string(loop_.timer_count()) + " timers:";
    for (const CallbackId id : loop_.identifiers()) {
      text += " " + std::to_string(id);
      text += loop_.is_enabled(id) ? "e" : "";
      text += loop_.is_referenced(id) ? "r" : "";
    }
    return text;
  }

  void pass_time() {
    if (stage_.pass_time) stage_.pass_time();
  }

  void add_guard(const LoopRun& run) {
    const auto end = [this](const char* what) {
      note(what);
      loop_.stop();
    };
    if (run.is_busy) {
      guard_ = loop_.repeat(Duration(0), [end, ticks = 0]() mutable {
        if (++ticks == LoopModel::kBusyTicks) end("enough");
      });
    } else {
      guard_ = loop_.delay(LoopModel::kGuardSpan * stage_.unit, [end] { end("guard"); });
    }
    ++registered_;
    loop_.unreference(guard_);
  }

  ScriptConnection& connection(std::size_t index) {
    while (connections_.size() < models::kLoopConnections) {
      connections_.emplace_back(descriptor_calls());
    }
    return connections_[index];
  }

  // --- callbacks ---

  auto callback(LoopAct registration = {}) {
    ++registered_;
    return [this, registration](CallbackId id) {
      pass_time();
      const bool takes = registration.deed == LoopDeed::Readable && registration.takes();
      if (takes) connection(registration.connection()).take();
      note("call " + std::to_string(id));
      call(id);
    };
  }

  void call(CallbackId self) {
    if (ending_) return;
    if (next_call_ < script_.calls.size()) return act(script_.calls[next_call_++], self);
    loop_.cancel(self);
  }

  void act(const LoopCall& acts, CallbackId self) {
    bool throws = false;
    for (const LoopAct& act : acts) {
      if (ending_) return;
      pass_time();
      perform(act, self);
      throws = throws || act.deed == LoopDeed::Throw;
      pass_time();
    }
    if (throws && self != 0 && !ending_) throw Planned("as the script says");
  }

  void perform(const LoopAct& act, CallbackId self) {
    if (act.is_control()) return control(act);
    const Duration span = act.span * stage_.unit;
    switch (act.deed) {
      case LoopDeed::Queue:
        return loop_.queue([this, task = ++tasks_] {
          note("task " + std::to_string(task));
          call(kMicrotask);
        });
      case LoopDeed::Defer:
        return ignore(loop_.defer(callback()));
      case LoopDeed::Delay:
        return ignore(loop_.delay(span, callback()));
      case LoopDeed::Repeat:
        return ignore(loop_.repeat(span, callback()));
      case LoopDeed::Notice:
        return ignore(loop_.on_notice(callback()));
      case LoopDeed::Readable:
        return ignore(loop_.on_readable(connection(act.connection()).near(), callback(act)));
      case LoopDeed::Writable:
        return ignore(loop_.on_writable(connection(act.connection()).near(), callback()));
      case LoopDeed::Signal:
        return ignore(loop_.on_signal(kScriptSignals[act.signal()], callback()));
      case LoopDeed::Write:
        return connection(act.connection()).write();
      case LoopDeed::Fill:
        return connection(act.connection()).fill();
      case LoopDeed::Empty:
        return connection(act.connection()).empty();
      case LoopDeed::Raise:
        return stage_.raise(kScriptSignals[act.signal()]);
      case LoopDeed::Suspend:
        if (self != 0) suspend();
        return;
      case LoopDeed::Resume:
      case LoopDeed::Fail:
      case LoopDeed::ResumeByTicket:
      case LoopDeed::FailByTicket:
        return answer(act);
      case LoopDeed::Stop:
        return loop_.stop();
      case LoopDeed::Sleep:
        if (self == 0) delay(span);
        return;
      default:
        return;
    }
  }

  static void ignore(CallbackId) {}

  void control(const LoopAct& act) {
    const CallbackId id = registered_ == 0 ? 1 : 1 + act.subject % registered_;
    if (id == guard_) return;
    try {
      switch (act.deed) {
        case LoopDeed::Cancel:
          loop_.cancel(id);
          return;
        case LoopDeed::Disable:
          return loop_.disable(id);
        case LoopDeed::Enable:
          return loop_.enable(id);
        case LoopDeed::Reference:
          return loop_.reference(id);
        case LoopDeed::Unreference:
          return loop_.unreference(id);
        default:
          return loop_.notice(id);
      }
    } catch (const InvalidCallback& error) {
      note("unknown " + std::to_string(error.id()));
    }
  }

  // --- suspensions ---

  void suspend() {
    const Suspension mine = loop_.suspension();
    kept_.push_back({mine, mine.ticket()});
    const std::string number = std::to_string(kept_.size());
    note("suspend " + number);
    try {
      mine.suspend();
      note("resumed " + number);
    } catch (const Planned&) {
      note("failed " + number);
    }
  }

  void answer(const LoopAct& act) {
    if (kept_.empty()) return;
    const std::size_t number = act.subject % kept_.size();
    const std::string name = std::to_string(number + 1);
    const Kept& kept = kept_[number];
    // Said beforehand: an answer changes nothing at once.
    const bool suspended = act.by_ticket() ? kept.ticket.valid() : kept.suspension.pending();
    try {
      const auto give = [&](const auto& to) {
        return act.fails() ? to.fail(std::make_exception_ptr(Planned("as the script says")))
                           : to.resume();
      };
      const bool done = act.by_ticket() ? give(kept.ticket) : give(kept.suspension);
      note((done ? "answered " : "stale ") + name);
      if (done != suspended) note("though it had said otherwise");
    } catch (const SuspensionError& error) {
      const std::string_view what = error.what();
      const bool early = what.find("not suspended") != std::string_view::npos;
      note((early ? "not suspended " : "stale ") + name);
    }
  }

  /// Returns everybody who is still suspended: a loop does not like to end under them.
  void end_everything() {
    ending_ = true;
    for (const CallbackId id : loop_.identifiers()) loop_.cancel(id);
    for (const Kept& kept : kept_) {
      if (kept.ticket.valid()) kept.ticket.resume();
    }
    stage_.run();
    delay(Duration(1));  // Signals on their way still find somebody.
  }

  const LoopScript& script_;
  const LoopStage& stage_;
  Loop& loop_;
  ScriptSignals survivable_;
  std::deque<ScriptConnection> connections_;
  std::vector<Kept> kept_;
  Instant begin_;
  std::uint64_t registered_ = 0;
  std::uint64_t tasks_ = 0;
  CallbackId guard_ = 0;
  std::size_t next_call_ = 0;
  bool ending_ = false;
  std::vector<std::string> notes_;
};

}  // namespace

std::string complaint_about(const std::vector<std::string>& seen, const LoopScript& script,
                            const models::LoopRules& rules) {
  const std::vector<std::string> expected = LoopModel::nearest(script, rules, seen);
  std::size_t at = 0;
  while (at < seen.size() && at < expected.size() && seen[at] == expected[at]) ++at;
  if (at == seen.size() && at == expected.size()) return {};
  const auto note_at = [at](const std::vector<std::string>& notes) {
    return at < notes.size() ? "'" + notes[at] + "'" : "nothing";
  };
  return "LOOP (MODEL): where " + note_at(expected) + " was to come there came " + note_at(seen) +
         ", behind " + std::to_string(at) + " others";
}

std::vector<std::string> play_on_loop(const LoopScript& script, const LoopStage& stage) {
  return Player(script, stage).play();
}

}  // namespace fermata::properties
