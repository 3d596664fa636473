// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/interrupts.hpp"

#include <atomic>
#include <csignal>

namespace fermata::sim::cli {
namespace {

std::atomic<int> signals_so_far = 0;

void on_signal(int /*signum*/) { signals_so_far.fetch_add(1, std::memory_order_relaxed); }

}  // namespace

void count_interrupts() {
  struct sigaction action {};
  action.sa_handler = &on_signal;
  for (const int signum : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signum, &action, nullptr);
}

int interrupts() noexcept { return signals_so_far.load(std::memory_order_relaxed); }

}  // namespace fermata::sim::cli
