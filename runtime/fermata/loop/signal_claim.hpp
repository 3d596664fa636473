// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "fermata/loop/errors.hpp"
#include "fermata/reactor/signal_owners.hpp"

namespace fermata::loop::detail {

/// Holds a signal for a loop.
class SignalClaim {
 public:
  /// Throws SignalInUse when another loop of the program has it.
  SignalClaim(backend::SignalOwners& owners, int signum, const void* loop)
      : owners_(owners), signum_(signum) {
    if (owners_.claim(signum_, loop)) return;
    throw SignalInUse("on_signal: signal " + std::to_string(signum_) +
                      " has callbacks of another event loop");
  }
  SignalClaim(const SignalClaim&) = delete;
  SignalClaim& operator=(const SignalClaim&) = delete;
  ~SignalClaim() { owners_.release(signum_); }

 private:
  backend::SignalOwners& owners_;
  int signum_;
};

}  // namespace fermata::loop::detail
