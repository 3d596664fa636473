// SPDX-License-Identifier: Apache-2.0
#pragma once

// Everything that one run of a program consists of: the objects of the runtime that it uses, and
// beside each the model of what should be true of it.

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "fermata/runtime.hpp"
#include "properties/interpreter/arena.hpp"
#include "properties/models/activity_model.hpp"
#include "properties/models/callback_model.hpp"
#include "properties/models/holders_model.hpp"
#include "properties/models/lifecycle_model.hpp"
#include "properties/models/ready_model.hpp"
#include "properties/models/timer_model.hpp"
#include "properties/models/wait_model.hpp"
#include "properties/program/program.hpp"

namespace fermata::properties {

class Player;
class Listener;

/// What programs throw.
class PlannedError final : public Linkable<PlannedError> {
 public:
  explicit PlannedError(std::uint32_t error_number)
      : Linkable("planned error " + std::to_string(error_number)), number(error_number) {}
  std::uint32_t number;
};

/// An event that the program fires itself; a promise keeps what it was closed with.
class PlainEvent final : public Event {
 public:
  PlainEvent(Runtime& runtime, bool keeps) noexcept
      : Event(runtime, backend::EventKind::Plain), keeps_(keeps) {}
  bool complete() {
    outcome_.result = &value_;
    return notify_and_close(outcome_);
  }
  [[nodiscard]] const Outcome* replay() const noexcept override {
    return keeps_ && is_closed() ? &outcome_ : nullptr;
  }
  [[nodiscard]] void* value() noexcept { return &value_; }

 private:
  bool keeps_;
  int value_ = 0;
  Outcome outcome_;
};

struct SharedEvent {
  ProgramEvent kind = ProgramEvent::Signal;
  Event* event = nullptr;  // Null once it is destroyed.
  std::uint64_t serial = 0;
  std::vector<Ref<Event>> references;  // The program's own.
  models::HoldersModel holders;
  models::CallbackModel callbacks;
  std::uint32_t starts = 0;    // By the program itself, not given back.
  std::uint32_t fires = 0;     // As the runtime tells.
  std::uint32_t notified = 0;  // By the program.
  std::uint32_t thrown = 0;    // By its subscribers.

  [[nodiscard]] bool usable() const noexcept { return !references.empty(); }
  [[nodiscard]] bool is_timer() const noexcept { return kind >= ProgramEvent::Once; }
  [[nodiscard]] bool is_multishot() const noexcept {
    return kind == ProgramEvent::Multishot || kind == ProgramEvent::Hidden;
  }
};

struct Task {
  std::uint32_t index = 0;
  std::uint64_t serial = 0;
  std::size_t body = 0;
  Coroutine<> handle;  // Empty for main.
  models::LifecycleModel life;
  models::WaitModel wait;
  Listener* at_end = nullptr;
  std::uint32_t protect_depth = 0;
  bool deferred = false;  // A cancellation waits for the end of its protection.
  bool protection_cleared = false;
  bool must_end = false;  // It was told to end and may be told again and again.
  bool failed = false;
  std::uint32_t error_number = 0;
  std::uint32_t deadlock_cancels = 0;
  std::uint32_t shutdown_cancels = 0;
};

/// What became of an error that the program threw.
struct Fate {
  bool escaped = false;  // It ended the body of a coroutine.
  bool taken = false;    // Somebody who awaited that coroutine got it.
  std::uint32_t delivered = 0;
};

struct ProgramState {
  ProgramState(Arena& the_arena, const Program& the_program)
      : arena(the_arena), program(the_program) {}
  ProgramState(const ProgramState&) = delete;
  ProgramState& operator=(const ProgramState&) = delete;
  ~ProgramState();

  Arena& arena;
  const Program& program;
  std::deque<Task> tasks;  // Main first.
  std::deque<SharedEvent> events;
  std::deque<Listener*> listeners;
  models::ActivityModel activity;
  models::TimerModel timers;
  models::ReadyModel ready;
  std::map<std::uint32_t, Fate> errors;

  // What happens right now.
  Task* spawning = nullptr;
  std::uint64_t turn = 0;  // Serial of the event whose subscriber is being called.
  bool removing = false;   // The program itself unsubscribes.
  std::uint32_t actions = 0;

  // What has happened.
  std::uint32_t next_error = 0;
  std::uint32_t deadlocks = 0;
  std::uint32_t shutdowns = 0;
  Instant shutdown_began;
  bool unwound = false;
  std::uint32_t microtasks_queued = 0;
  std::uint32_t microtasks_run = 0;

  [[nodiscard]] Runtime& runtime() const noexcept { return arena.runtime(); }
  void complain(const models::Complaint& complaint) {
    if (!complaint.empty()) arena.findings().add(complaint);
  }
  void complain(const Task& task, const models::Complaint& complaint) {
    if (!complaint.empty()) complain(complaint + " [c" + std::to_string(task.index) + "]");
  }
  [[nodiscard]] SharedEvent* shared(std::uint64_t serial) noexcept;
  [[nodiscard]] Task* task(std::uint64_t serial) noexcept;
};

/// A subscription of the program: counted by the runtime and by the model alike.
class Listener final : public backend::Callback {
 public:
  enum class Role : std::uint8_t { Scripted, Janitor, End };
  Listener(ProgramState& state, Player& player, Role role, std::uint32_t id, std::size_t number)
      : state_(state), player_(player), role_(role), id_(id), number_(number) {}
  void run(Event& event, const Outcome& outcome) override;
  [[nodiscard]] Role role() const noexcept { return role_; }
  [[nodiscard]] std::uint32_t calls() const noexcept { return calls_; }
  bool replaying = false;  // The event is closed and tells at once what it keeps.

 private:
  void destroy() noexcept override { delete this; }
  ProgramState& state_;
  Player& player_;
  Role role_;
  std::uint32_t id_;
  std::size_t number_;  // Which of the program's callbacks, or of its tasks.
  std::uint32_t calls_ = 0;
};

}  // namespace fermata::properties
