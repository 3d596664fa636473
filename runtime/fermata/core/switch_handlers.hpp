// SPDX-License-Identifier: Apache-2.0
#pragma once

// Hooks of one coroutine, called when it gains control, is about to yield, and once at its end
// (CORE-SC-17, SC-18).

#include <cstddef>
#include <memory>
#include <vector>

namespace fermata {

class CoroutineBase;

namespace backend {

enum class SwitchMoment : unsigned char {
  Enter,   // the coroutine gains control, its first start included
  Leave,   // it is about to yield
  Finish,  // it has ended; the last call
};

class SwitchHandler {
 public:
  virtual ~SwitchHandler() = default;

  /// Returns whether it wants to be called again. May spawn; must not suspend or throw: an
  /// exception is handled like one of the scheduler loop.
  virtual bool on_switch(CoroutineBase& coroutine, SwitchMoment moment) = 0;
};

}  // namespace backend

namespace detail {

class SwitchHandlers {
 public:
  /// Returns the handler's index; one that is present already is not added again. Throws UsageError
  /// while handlers run.
  std::size_t add(std::shared_ptr<backend::SwitchHandler> handler);

  /// Keeps the order of the rest. Returns whether it was present. Throws UsageError while handlers
  /// run.
  bool remove(const backend::SwitchHandler& handler);

  /// Calls all in order; drops those that returned false. Every handler is called even when one
  /// throws; the first exception is rethrown at the end.
  void call(CoroutineBase& coroutine, backend::SwitchMoment moment);

  [[nodiscard]] const std::vector<std::shared_ptr<backend::SwitchHandler>>& all() const noexcept {
    return handlers_;
  }

 private:
  std::vector<std::shared_ptr<backend::SwitchHandler>> handlers_;
  bool running_ = false;
};

}  // namespace detail
}  // namespace fermata
