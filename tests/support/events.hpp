// SPDX-License-Identifier: Apache-2.0
#pragma once

// Events and callbacks whose every move a test can see.

#include <exception>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/event.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/core/suspend.hpp"

namespace fermata::test {

inline std::exception_ptr reason(const char* text) {
  return std::make_exception_ptr(Cancellation(text));
}

/// Completed by code; start and stop mean nothing to it. Keeps its outcome when `complete` gave
/// one.
class PlainEvent final : public Event {
 public:
  explicit PlainEvent(Runtime& runtime) : Event(runtime, backend::EventKind::Plain) {}

  void complete(Outcome outcome) {
    stored_ = std::move(outcome);
    complete_ = true;
    notify_and_close(stored_);
  }

  [[nodiscard]] const Outcome* replay() const noexcept override {
    return complete_ ? &stored_ : nullptr;
  }

 private:
  Outcome stored_;
  bool complete_ = false;
};

/// Armed by a backend: this object, which counts.
class BackendEvent final : public Event {
 public:
  explicit BackendEvent(Runtime& runtime, backend::EventKind kind = backend::EventKind::Trigger)
      : Event(runtime, kind) {}
  ~BackendEvent() override { shut(); }

  int armed = 0;
  int disarmed = 0;
  std::function<void()> on_arm;     // May throw, may fire.
  std::function<void()> on_disarm;  // May fire.

 protected:
  void arm() override {
    if (on_arm) on_arm();
    ++armed;
  }
  void disarm() noexcept override {
    ++disarmed;
    if (on_disarm) on_disarm();
  }
};

template <class E, class... Arguments>
[[nodiscard]] Ref<E> make_event(Runtime& runtime, Arguments... arguments) {
  return Ref<E>::adopt(*new E(runtime, arguments...));
}

/// Belongs to the test, counts its runs and ends, and does what it is told.
class Probe final : public backend::Callback {
 public:
  explicit Probe(std::string probe_name = "probe", std::vector<std::string>* order = nullptr)
      : name(std::move(probe_name)), order_(order) {}
  Probe(Probe&&) = delete;
  ~Probe() {
    if (event() != nullptr) event()->remove_callback(*this);
  }

  void run(Event& event, const Outcome& outcome) override {
    ++runs;
    if (order_ != nullptr) order_->push_back(name);
    error = outcome.error;
    result = outcome.result;
    if (action) action(event);
  }

  std::string name;
  std::function<void(Event&)> action;
  std::function<void()> on_destroy;
  int runs = 0;
  int destroyed = 0;  // How often the last holder has let go.
  void* result = nullptr;
  std::exception_ptr error;

 private:
  void destroy() noexcept override {
    ++destroyed;
    if (on_destroy) on_destroy();
  }
  std::vector<std::string>* order_;
};

/// How a coroutine has ended, once it has: its error, as describe() shows it.
template <class T>
[[nodiscard]] std::string end_of(const Coroutine<T>& coroutine) {
  try {
    wait(coroutine.event());
  } catch (...) {
  }
  return describe(coroutine->error());
}

/// The text of what `action` throws, "" when it throws nothing.
template <class Action>
[[nodiscard]] std::string thrown_by(Action&& action) {
  try {
    action();
  } catch (...) {
    return describe(std::current_exception());
  }
  return "";
}

}  // namespace fermata::test
