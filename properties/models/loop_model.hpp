// SPDX-License-Identifier: Apache-2.0
#pragma once

// An event loop in plain lists, with a clock of its own: the tick, step by step, as the contract
// has it. Time passes in waits and in sleeps, and where it is real with each deed.
//
// Looks  Every tick looks once at the world: signals, descriptors. Beyond that a runtime may look
//        whenever one coroutine gives way to another, and so see in between what changes again
//        before the tick looks. Both is right; the model goes on either way.

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "properties/models/choices.hpp"
#include "properties/models/loop_script.hpp"

namespace fermata::models {

struct LoopRules {
  /// The clock goes on with each deed; else it has units, and notes tell the time.
  bool real_time = false;
  /// What is due in one tick comes in any order that the contract allows, as it was seen.
  bool any_order = false;
};

class LoopModel {
 public:
  LoopModel(const LoopScript& script, const LoopRules& rules) : script_(script), rules_(rules) {}

  /// What happens, in order, one word each, when nobody looks but the ticks.
  std::vector<std::string> play();

  /// `seen`, when it is one of the things that may happen; otherwise one that comes close.
  static std::vector<std::string> nearest(const LoopScript& script, const LoopRules& rules,
                                          const std::vector<std::string>& seen);

  // What ends a run in any case, out of the script's reach.
  static constexpr unsigned kGuardSpan = 1000;
  static constexpr int kBusyTicks = 50;

 private:
  enum class Kind { Defer, Delay, Repeat, Notice, Readable, Writable, Signal, Guard, Pulse };
  struct Callback {
    Kind kind;
    std::uint64_t span = 0;
    std::size_t value = 0;  // The connection or signal.
    bool takes = false;
    std::uint64_t deadline = 0;
    std::uint64_t arming = 0;
    bool enabled = true;
    bool referenced = true;
    bool invokable = false;
    bool masked = false;   // A call of it is suspended.
    bool watched = false;  // A signal's: it is told of it.
    bool pending = false;  // Something has happened.

    [[nodiscard]] bool is_timed() const {
      return kind == Kind::Delay || kind == Kind::Guard || repeats();
    }
    [[nodiscard]] bool once() const { return kind == Kind::Defer || (is_timed() && !repeats()); }
    [[nodiscard]] bool repeats() const { return kind == Kind::Repeat || kind == Kind::Pulse; }
    /// 0 for timers, 1 for descriptors and notices, 2 for signals.
    [[nodiscard]] int group() const { return is_timed() ? 0 : kind == Kind::Signal ? 2 : 1; }
    [[nodiscard]] bool polls() const { return kind == Kind::Readable || kind == Kind::Writable; }
  };
  using Ids = std::deque<std::uint64_t>;

  struct Connection {
    bool has_data = false;
    bool is_full = false;
  };

  /// Code that runs, or is suspended.
  struct Frame {
    const LoopCall* acts = nullptr;
    std::size_t at = 0;
    std::uint64_t self = 0;    // The callback, kMicrotask, or 0 for the program.
    std::uint64_t source = 0;  // The callback, when it can be called again.
    bool throws = false;
    std::optional<std::size_t> fiber;
  };
  enum class State { Idle, Pending, Scheduled, Over };
  struct Fiber {
    State state = State::Idle;
    bool is_main = false;
    bool fails = false;
    std::uint64_t round = 0;
    std::size_t number = 0;  // Of its suspension.
    Frame frame;
  };
  struct Suspension {
    std::size_t fiber;
    std::uint64_t round;
  };
  struct Microtask {
    std::uint64_t task = 0;
    std::optional<std::size_t> fiber;
  };

  struct Diverged {};
  static constexpr std::uint64_t kMicrotask = ~0ULL;

  void note(const std::string& what);
  /// What the loop would say of itself.
  [[nodiscard]] std::string inventory() const;

  void add(Kind kind, std::uint64_t span = 0, std::size_t value = 0, bool takes = false);
  void leave_lines(std::uint64_t id);
  void forget_events(std::uint64_t id);
  void disable(std::uint64_t id);
  void enable(std::uint64_t id);
  void set_referenced(std::uint64_t id, bool referenced);
  void cancel(std::uint64_t id);
  void notify(std::uint64_t id);
  void mask(std::uint64_t id);
  void unmask(std::uint64_t id);

  void run_frame(Frame frame);
  void perform(const LoopAct& act, Frame& frame);
  void control(const LoopAct& act);
  void end_frame(const Frame& frame);
  void call(std::uint64_t self, std::uint64_t source);
  std::size_t begin_suspension(std::size_t fiber);
  void suspend(Frame frame);
  void resume(std::size_t fiber);
  void answer(const LoopAct& act);

  [[nodiscard]] bool empty() const;
  [[nodiscard]] bool is_interrupted() const;
  /// Whether a look tells it so.
  [[nodiscard]] bool is_ready(const Callback& callback) const;
  void drain();
  void invoke(std::uint64_t id);
  void invoke_guard(Kind kind);
  void add_guard(const LoopRun& run);
  void activate();
  void wait();
  void collect();
  void follow(std::vector<std::uint64_t>& due) const;
  [[nodiscard]] bool may_come_next(const Callback& callback);
  void look();
  void may_look();
  [[nodiscard]] bool sees_something() const;
  void ticks();
  void run();
  void run_suspended();

  const LoopScript& script_;
  const LoopRules rules_;
  const std::vector<std::string>* seen_ = nullptr;
  Choices* choices_ = nullptr;

  std::map<std::uint64_t, Callback> callbacks_;
  Ids enabling_;
  Ids ready_;
  std::deque<Microtask> microtasks_;
  std::array<Connection, kLoopConnections> connections_;
  std::array<bool, kLoopSignals> raised_{};
  std::vector<Fiber> fibers_;
  std::vector<Suspension> suspensions_;
  std::optional<std::size_t> main_;  // The program's fiber.
  std::uint64_t next_id_ = 1;
  std::uint64_t next_task_ = 1;
  std::uint64_t guard_ = 0;  // Of the run.
  int busy_ticks_ = 0;       // Of the run.
  std::uint64_t next_arming_ = 0;
  std::uint64_t now_ = 0;
  std::size_t next_call_ = 0;
  // Of the callbacks that one tick has collected, and that were called so far.
  std::set<std::uint64_t> collected_;
  std::set<int> groups_;
  int group_ = -1;
  std::uint64_t place_ = 0;  // Of the last one among those of its kind.

  bool has_handler_ = false;
  bool failed_ = false;
  bool stop_ = false;
  bool running_ = false;
  std::vector<std::string> log_;
};

}  // namespace fermata::models
