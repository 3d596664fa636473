// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string_view>

namespace fermata::os {

/// How many forks lie between this process and the first one that asked.
[[nodiscard]] unsigned forks() noexcept;

/// Remembers by which process it was made. A reactor's copy in a forked child shares epolls, timers
/// and wake-ups with the parent's: what one of them does, the other one misses.
class ForkGuard {
 public:
  ForkGuard() noexcept;

  /// Ends a process that is a fork of the one that made this, with a word on standard error: a
  /// clean-up would reach the parent's reactor.
  void require_same_process(std::string_view reactor) const noexcept {
    if (forks() != forks_) [[unlikely]] {
      refuse(reactor);
    }
  }

 private:
  [[noreturn]] void refuse(std::string_view reactor) const noexcept;

  unsigned forks_;
  pid_t process_;
};

}  // namespace fermata::os
