// SPDX-License-Identifier: Apache-2.0
#pragma once

// What belongs to one callback while it runs, to one microtask, or to one coroutine beside them:
// its suspension and its values. And the coroutines that call callbacks.

#include <any>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fermata/core/coroutine.hpp"
#include "fermata/loop/callback.hpp"

namespace fermata::loop::detail {

class Machine;
struct Runner;
struct Source;

inline constexpr const char* kLoopHasEnded = "suspend: the event loop has ended";

/// Somebody waits here until it is told to go on. `kind`: Plain, or Trigger for a wait that is
/// activity of the runtime.
class Signpost final : public Event {
 public:
  Signpost(Runtime& runtime, backend::EventKind kind, const char* what) noexcept
      : Event(runtime, kind), what_(what) {}
  ~Signpost() override { shut(); }
  void wake() { notify({this, nullptr}); }
  [[nodiscard]] std::string info() const override { return what_; }

 private:
  void dispose() noexcept override {}
  const char* what_;
};

enum class FiberState : std::uint8_t {
  Idle,
  Pending,    // waits
  Scheduled,  // has been answered, and does not run yet
  Dead,       // main's, after an error
};

struct Fiber {
  std::weak_ptr<Machine> machine;
  CoroutineBase* coroutine = nullptr;  // Null when it is stale.
  Runner* runner = nullptr;            // Null for a coroutine beside the loop's.
  FiberState state = FiberState::Idle;
  bool main = false;        // Its suspension runs the loop.
  std::uint64_t round = 0;  // Of the suspensions.
  Signpost* gate = nullptr;
  std::any value;
  std::exception_ptr error;
  fermata::detail::Link<Fiber> link;  // While a coroutine beside the loop's waits.

  using List = fermata::detail::IntrusiveList<Fiber, &Fiber::link>;
};

/// The content of a coroutine's slot.
struct FiberHome {
  FiberHome() = default;
  FiberHome(const FiberHome&) = delete;
  FiberHome& operator=(const FiberHome&) = delete;
  ~FiberHome() { end(); }

  /// The callback, or the coroutine, has ended. Destructors of values may suspend, and use others.
  void end() noexcept {
    end_suspension();
    while (!values.empty()) {
      const std::shared_ptr<void> last = std::move(values.back().second);
      values.pop_back();
    }
    end_suspension();  // Theirs.
  }
  void end_suspension() noexcept {
    if (const auto ending = std::exchange(fiber, nullptr)) ending->coroutine = nullptr;
  }

  Runner* runner = nullptr;  // Null for a coroutine beside the loop's.
  std::shared_ptr<Fiber> fiber;
  std::vector<std::pair<std::uint64_t, std::shared_ptr<void>>> values;  // By variable.
};

/// A microtask: a task, or somebody to be resumed.
struct Microtask {
  Task task;
  std::shared_ptr<Fiber> fiber;
};

/// A coroutine of the loop. While it drives, it calls callbacks on its own stack; when one of them
/// suspends, it belongs to this callback until that returns, and another one drives.
struct Runner final : backend::SwitchHandler, std::enable_shared_from_this<Runner> {
  explicit Runner(Machine& owner);
  bool on_switch(CoroutineBase& coroutine, backend::SwitchMoment moment) override;
  /// "readable callback 7 registered at ...", and where it is suspended.
  [[nodiscard]] std::string text() const;

  Machine& machine;
  CoroutineBase* coroutine = nullptr;
  Signpost call;  // To drive, or to end.
  FiberHome home;
  bool in_frame = false;     // User code is on its stack.
  bool detached = false;     // And has suspended.
  Source* source = nullptr;  // Whose function that is; null for microtasks, and for what runs once.
  CallbackInfo frame;        // The same for people; id 0 for a microtask.
  const char* frame_kind = "";
  fermata::detail::Link<Runner> link;

  using List = fermata::detail::IntrusiveList<Runner, &Runner::link>;
};

}  // namespace fermata::loop::detail
