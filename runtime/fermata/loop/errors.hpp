// SPDX-License-Identifier: Apache-2.0
#pragma once

// What goes wrong with a loop. A descriptor that cannot be watched is a PollError, a signal that
// nobody can handle and an invalid duration are UsageErrors.

#include <exception>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/loop/callback.hpp"

namespace fermata::loop {

/// No callback of the loop has this id: it was never given, or cancelled, or has run once.
class InvalidCallback : public Linkable<InvalidCallback, UsageError> {
 public:
  /// `history` is what a tracer knows about the id; may be empty.
  InvalidCallback(std::string_view operation, CallbackId id, const std::string& history = {});
  [[nodiscard]] CallbackId id() const noexcept { return id_; }

 private:
  CallbackId id_;
};

/// run() of a loop that runs already: loops do not nest.
class AlreadyRunning : public Linkable<AlreadyRunning, UsageError> {
 public:
  using Linkable::Linkable;
};

/// The loop belongs to a host, which runs it: run() is not for its guests.
class LoopIsHosted : public Linkable<LoopIsHosted, UsageError> {
 public:
  using Linkable::Linkable;
};

/// Another loop of this process has callbacks for the signal.
class SignalInUse : public Linkable<SignalInUse, UsageError> {
 public:
  using Linkable::Linkable;
};

/// suspend, resume or fail of a Suspension in a state that does not allow it.
class SuspensionError : public Linkable<SuspensionError, UsageError> {
 public:
  using Linkable::Linkable;
};

/// suspend() on a loop that has been destroyed: nobody is left who could resume. A callback that
/// lets it out ends like one that was cancelled.
class LoopEnded : public Linkable<LoopEnded, SuspensionError> {
 public:
  using Linkable::Linkable;
};

/// The loop has ended under the coroutine that had it running and waited for a resumption.
class LoopDeadlock : public Linkable<LoopDeadlock, DeadlockError> {
 public:
  LoopDeadlock(bool stopped, std::vector<std::string> suspended);
  /// Every other suspended one: whose callback it is, and where it waits.
  [[nodiscard]] const std::vector<std::string>& suspended() const noexcept { return suspended_; }

 private:
  std::vector<std::string> suspended_;
};

/// An exception of a callback, a microtask or the error handler that nobody has caught.
class UncaughtError : public Linkable<UncaughtError> {
 public:
  /// `where` names the callback, or says what else has thrown.
  UncaughtError(std::string_view where, std::exception_ptr original);
  [[nodiscard]] const std::exception_ptr& original() const noexcept { return original_; }

 private:
  std::exception_ptr original_;
};

}  // namespace fermata::loop
