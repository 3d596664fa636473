// SPDX-License-Identifier: Apache-2.0
#pragma once

// A machine as the parts of its program's reactor see it: beside what is a Machine's, how time
// passes and how the program ends.

#include <memory>

#include "fermata/sim/machine/machine.hpp"

namespace fermata::detail {
class ThreadLink;
}

namespace fermata::sim::detail {

class Program : public Machine {
 public:
  [[nodiscard]] bool is_thread() const noexcept { return host_ != this; }

  /// Lets time pass until something may have happened, at the latest until `wake_by`. Returns
  /// whether the program is to be shut down. Throws AbandonRun when the run is over.
  virtual bool wait(Instant wake_by) = 0;
  /// Ends the wait that goes on, or the next one.
  virtual void wake() noexcept = 0;
  /// Lets other threads act; see Reactor::let_threads_in.
  virtual void let_threads_in() noexcept = 0;
  /// It is `to` now, unless it is later already.
  virtual void advance(Instant to) = 0;

  /// Begins a thread of the program.
  virtual void begin_thread(std::shared_ptr<fermata::detail::ThreadLink> link) = 0;
  /// The process ends by a signal that it has not prepared for.
  [[noreturn]] virtual void killed_by_signal(int signum) = 0;

  /// Fault::Pause may strike.
  [[nodiscard]] virtual bool can_pause() const noexcept = 0;
  virtual void pause_for(Duration time) = 0;
  /// Fault::ClockStep may strike.
  [[nodiscard]] virtual bool can_step_clock() const noexcept = 0;

 protected:
  using Machine::Machine;
  ~Program() = default;
};

}  // namespace fermata::sim::detail
