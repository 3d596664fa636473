// SPDX-License-Identifier: Apache-2.0

// What signals need of the rest of the kernel.

#include <sys/signalfd.h>

#include <cerrno>

#include "fermata/base/assert.hpp"
#include "fermata/sim/machine/machine.hpp"
#include "fermata/sim/posix/kernel_calls.hpp"
#include "fermata/sim/posix/signal_descriptor.hpp"

namespace fermata::sim::detail {

posix::Signals* SimKernel::signals() noexcept {
  return &machine_.host() == &machine_ ? &signals_ : nullptr;
}

int SimKernel::wait_for_signal(const char* call, posix::Limit limit) {
  leave_if_endless();
  const int waited = wait(call, {}, limit, false);
  leave_if_interrupted(waited);
  return waited;
}

int SimKernel::open_signals(int known, SignalSet wanted, int flags) {
  if (const int code = enter("signalfd")) return code;
  if (const int code = refuse_flags(flags, SFD_CLOEXEC | SFD_NONBLOCK)) return code;
  if (known == -1) {
    if (table_.is_full("signalfd")) return -EMFILE;
    const std::uint64_t serial = table_.next_serial();
    return open(std::make_shared<SignalDescriptor>(machine_, serial, signals_, wanted), flags);
  }
  Description* const found = table_.use(known);
  if (found == nullptr) return -EBADF;
  auto* const descriptor = dynamic_cast<SignalDescriptor*>(found);
  if (descriptor == nullptr) return -EINVAL;
  descriptor->set(wanted);
  return known;
}

}  // namespace fermata::sim::detail
