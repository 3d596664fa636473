// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/world/signals.hpp"

#include <fmt/format.h>

#include <csignal>
#include <utility>

#include "fermata/base/error.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/sim/world/program.hpp"

namespace fermata::sim::detail {

namespace {

constexpr int kSignals = 64;

/// What happens to a process that does nothing about the signal.
bool is_ignored_by_default(int signum) noexcept {
  return signum == SIGCHLD || signum == SIGCONT || signum == SIGURG || signum == SIGWINCH;
}

}  // namespace

void SimSignals::raise(int signum) {
  if (signum <= 0 || signum > kSignals) {
    throw UsageError(fmt::format("signal {}: expected a number from 1 to {}", signum, kSignals));
  }
  raised_ |= bit(signum);
  program_.wake();
}

void SimSignals::deliver_raised() {
  const Set due = std::exchange(raised_, 0);
  FERMATA_ASSERT(due != 0);
  for (int signum = 1; due != 0 && signum <= kSignals; ++signum) {
    if ((due & bit(signum)) == 0) continue;
    if (((installed_ | control_) & bit(signum)) == 0 && !is_ignored_by_default(signum)) {
      program_.killed_by_signal(signum);
    }
    if ((control_ & bit(signum)) != 0) attachment_.runtime().on_control_signal(signum);
    if ((installed_ & bit(signum)) != 0) deliver(signum);
  }
}

void SimSignals::control(std::span<const int> signums) noexcept {
  control_ = 0;
  for (const int signum : signums) control_ |= bit(signum);
}

}  // namespace fermata::sim::detail
