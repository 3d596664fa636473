// SPDX-License-Identifier: Apache-2.0
#pragma once

// Signals as code sees them that was not written for Fermata. A kernel that has an answer to them
// serves them; else they are the system's.
//
// Results   0, or a negative errno.
// Handlers  Run in the thread that gets the signal, at its next call that is served, or at once
//           when it waits in one.

#include <pthread.h>
#include <sys/time.h>

#include <csignal>
#include <optional>

#include "fermata/posix/kernel.hpp"

namespace fermata::posix {

class Timers;

class Signals {
 public:
  /// `action` and `before` may be null.
  virtual int set_action(int signal, const struct sigaction* action, struct sigaction* before) = 0;
  /// The mask of the current thread; `mask` and `before` may be null.
  virtual int change_mask(int how, const sigset_t* mask, sigset_t* before) = 0;
  /// What has been sent to the process or to the current thread and waits for the mask.
  virtual sigset_t pending() = 0;

  /// For kill(), and with a value for sigqueue(); signal 0 only asks whether there is such a
  /// process.
  virtual int send(pid_t process, int signal, const sigval* value) = 0;
  /// For pthread_kill() and raise(), and with a value for pthread_sigqueue(): the thread must be
  /// known.
  virtual int send_to_thread(pthread_t thread, int signal, const sigval* value) = 0;

  /// Takes one of `wanted` that is pending, or will be; -EAGAIN when the time is over. Returns its
  /// number. `info` may be null. May suspend.
  virtual int take(const sigset_t& wanted, Limit limit, siginfo_t* info) = 0;
  /// Waits with this mask until a handler has run: -EINTR. Without a mask, with the thread's. May
  /// suspend.
  virtual int wait_for_handler(const std::optional<sigset_t>& mask) = 0;

  /// For signalfd(): opens a descriptor, or changes the one that `known` is, which is -1 for none.
  virtual int descriptor(int known, const sigset_t& wanted, int flags) = 0;

  /// For getpid().
  [[nodiscard]] virtual pid_t process_id() const noexcept = 0;

  /// ITIMER_REAL, which sends SIGALRM; both may be null.
  virtual int set_timer(const itimerval* setting, itimerval* before) = 0;
  /// For timer_create() and its relatives.
  [[nodiscard]] virtual Timers& timers() noexcept = 0;

 protected:
  Signals() = default;
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals() = default;
};

}  // namespace fermata::posix
