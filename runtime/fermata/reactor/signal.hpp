// SPDX-License-Identifier: Apache-2.0
#pragma once

// Signals of the operating system as events.
//
// Table      One per reactor: signal -> started events in start order. The first started event of a
//            signal installs the handler, the last stop removes it (SIG-01, SIG-04).
// Delivery   Once per turn at most, last in the turn, to everybody who was started when it began
//            (SIG-02, SIG-03); a started event is activity unless it is hidden.

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "fermata/reactor/dispatch_list.hpp"
#include "fermata/reactor/handle.hpp"
#include "fermata/reactor/signal_owners.hpp"

namespace fermata::backend {

class Signals;

/// Fires at each delivery of one signal while it is started. Lives wherever its owner puts it.
class SignalEvent final : public Event {
 public:
  /// Throws UsageError when no program can handle `signum`.
  SignalEvent(Signals& signals, int signum);
  ~SignalEvent() override;

  [[nodiscard]] int signum() const noexcept { return signum_; }
  [[nodiscard]] std::string info() const override;
  void explain_wait(WaitFacts& facts, const CoroutineBase& waiter) const override;

 private:
  friend class Signals;

  void arm() override;
  void disarm() noexcept override;
  void dispose() noexcept override {}

  Signals& signals_;
  int signum_;
  detail::DispatchLink<SignalEvent> link_;

 public:
  using List = detail::DispatchList<SignalEvent, &SignalEvent::link_>;
};

class Signals {
 public:
  virtual ~Signals();

  /// Runtime::on_control_signal is called for these signals, through hidden events. An empty span
  /// ends that.
  void watch_control(std::span<const int> signums);

  /// Which event loops of the program handle which signals.
  [[nodiscard]] virtual SignalOwners& owners() noexcept = 0;

 protected:
  explicit Signals(detail::Attachment& attachment) noexcept;

  // --- hooks ---

  /// The process's handler for `signum` is wanted, or no more. Throws InputOutputError.
  virtual void install(int signum) = 0;
  virtual void uninstall(int signum) noexcept = 0;

  // --- for the backend ---

  /// `signum` has arrived, once or more often since the last call.
  void deliver(int signum);

  detail::Attachment& attachment_;

 private:
  friend class SignalEvent;
  class Control;

  void add(SignalEvent& event);
  void remove(SignalEvent& event) noexcept;

  std::map<int, SignalEvent::List> started_;
  std::vector<std::unique_ptr<Control>> controls_;
};

}  // namespace fermata::backend
