// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <ctime>

namespace fermata::posix {

/// Timers of a process that send signals. Results are 0, or what is said, or a negative errno;
/// nothing suspends.
class Timers {
 public:
  /// Not for SIGEV_THREAD. `event` may be null: the timer sends SIGALRM. Its number is in `timer`.
  virtual int create(clockid_t clock, const sigevent* event, int& timer) = 0;
  /// `before` may be null.
  virtual int set(int timer, int flags, const itimerspec& setting, itimerspec* before) = 0;
  virtual int get(int timer, itimerspec& left) = 0;
  /// How often it had expired beyond once when its last signal was let in.
  virtual int overrun(int timer) = 0;
  virtual int remove(int timer) = 0;

 protected:
  Timers() = default;
  Timers(const Timers&) = delete;
  Timers& operator=(const Timers&) = delete;
  ~Timers() = default;
};

}  // namespace fermata::posix
