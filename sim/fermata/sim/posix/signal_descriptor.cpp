// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/signal_descriptor.hpp"

#include <fcntl.h>
#include <sys/signalfd.h>

#include <cstddef>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/sim/posix/foreign_signals.hpp"

namespace fermata::sim::detail {

namespace {

signalfd_siginfo told_of(const siginfo_t& info) noexcept {
  FERMATA_ASSERT(is_signal(info.si_signo));
  signalfd_siginfo told = {};
  told.ssi_signo = static_cast<std::uint32_t>(info.si_signo);
  told.ssi_errno = info.si_errno;
  told.ssi_code = info.si_code;
  if (info.si_code == SI_TIMER) {
    told.ssi_tid = static_cast<std::uint32_t>(info.si_timerid);
    told.ssi_overrun = static_cast<std::uint32_t>(info.si_overrun);
  } else {
    told.ssi_pid = static_cast<std::uint32_t>(info.si_pid);
    told.ssi_uid = info.si_uid;
  }
  if (info.si_code == SI_TIMER || info.si_code == SI_QUEUE) {
    told.ssi_ptr = reinterpret_cast<std::uintptr_t>(info.si_value.sival_ptr);
    told.ssi_int = info.si_value.sival_int;
  }
  return told;
}

}  // namespace

SignalDescriptor::SignalDescriptor(Machine& machine, std::uint64_t serial, ForeignSignals& signals,
                                   SignalSet wanted)
    : Description(machine, "signalfd", serial), signals_(&signals), wanted_(wanted) {
  status = O_RDWR;
  signals.add(*this);
}

SignalDescriptor::~SignalDescriptor() {
  if (signals_ != nullptr) signals_->remove(*this);
}

void SignalDescriptor::set(SignalSet wanted) {
  wanted_ = wanted;
  changed();
}

void SignalDescriptor::came(int signal) {
  FERMATA_ASSERT(signals_ != nullptr);
  if ((wanted_ & signal_bit(signal)) != 0) changed(EPOLLIN);
}

ssize_t SignalDescriptor::read(std::span<const iovec> target) {
  const std::size_t room = size_of(target) / sizeof(signalfd_siginfo);
  if (target.empty()) return 0;
  if (room == 0) return -EINVAL;
  std::vector<signalfd_siginfo> taken;
  while (signals_ != nullptr && taken.size() < room) {
    const std::optional<PendingSignals::Entry> next = signals_->next_of(wanted_);
    if (!next) break;
    taken.push_back(told_of(next->info));
  }
  if (taken.empty()) return -EAGAIN;
  const std::span<const std::byte> bytes = std::as_bytes(std::span(taken));
  scatter(bytes, target);
  return static_cast<ssize_t>(bytes.size());
}

Readiness SignalDescriptor::readiness() {
  return signals_ != nullptr && (signals_->all_pending() & wanted_) != 0 ? Readiness{EPOLLIN} : 0;
}

Readiness SignalDescriptor::readiness_for(std::uint64_t reader) {
  const bool is_ready = signals_ != nullptr && (signals_->pending_for(reader) & wanted_) != 0;
  return is_ready ? Readiness{EPOLLIN} : 0;
}

}  // namespace fermata::sim::detail
