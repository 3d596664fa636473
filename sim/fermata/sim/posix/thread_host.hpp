// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "fermata/base/source_place.hpp"

namespace fermata {
class CoroutineBase;
}

namespace fermata::sim::detail {

class ForeignSignals;
struct MachineShare;

/// What threads need of the kernel that serves them.
class ThreadHost {
 public:
  [[nodiscard]] virtual ForeignSignals& foreign_signals() noexcept = 0;
  /// A thread of the process has been made, and has not run yet.
  virtual void thread_made(CoroutineBase& coroutine) = 0;
  /// What it has in common with other processes of the machine.
  [[nodiscard]] virtual MachineShare& machine_share() noexcept = 0;
  /// Whether somebody is going to read where things have happened.
  [[nodiscard]] virtual bool is_read() const noexcept = 0;
  /// Where the call was made, for people.
  [[nodiscard]] virtual SourcePlace place() const = 0;
  /// Where others may run before or after a call, for people.
  [[nodiscard]] virtual SourcePlace place_of_switch(const char* call) const = 0;

  /// Something is going to be waited for.
  virtual void begin_waiting() noexcept = 0;
  /// The call has found nothing to do, or has asked for the time.
  virtual void idle() = 0;
  /// The call waits where nothing can be suspended: the run fails. Returns -EDEADLK.
  virtual int refuse_wait(const char* call) = 0;

  /// Leaves foreign code that is to end and goes on, by an exception. Only for calls that may
  /// throw.
  virtual void leave_if_endless() = 0;
  /// Leaves foreign code whose run is over, by an exception.
  [[noreturn]] virtual void leave() = 0;
  /// Ends the current coroutine, which could suspend here, where it is: nothing on its stack is
  /// unwound. It ends by force, or as if it had returned.
  enum class DropAs : std::uint8_t { Forced, Returned };
  [[noreturn]] virtual void drop_coroutine(DropAs end) = 0;

 protected:
  ~ThreadHost() = default;
};

}  // namespace fermata::sim::detail
