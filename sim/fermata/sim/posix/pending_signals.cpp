// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/pending_signals.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "fermata/base/assert.hpp"

namespace fermata::sim::detail {

namespace {
constexpr int kFirstOfRealTime = 32;
}  // namespace

SignalSet set_of(const sigset_t& set) noexcept {
  static_assert(sizeof set >= sizeof(SignalSet));
  SignalSet bits = 0;
  std::memcpy(&bits, &set, sizeof bits);  // As the system has it.
  return bits & ~(signal_bit(SIGKILL) | signal_bit(SIGSTOP));
}

sigset_t set_from(SignalSet bits) noexcept {
  sigset_t set = {};
  std::memcpy(&set, &bits, sizeof bits);
  return set;
}

void PendingSignals::add(const Entry& entry) {
  const int signal = entry.info.si_signo;
  FERMATA_ASSERT(is_signal(signal));
  const bool queues = signal >= kFirstOfRealTime || entry.info.si_code == SI_TIMER;
  if (!queues && (set_ & signal_bit(signal)) != 0) return;
  entries_.push_back(entry);
  set_ |= signal_bit(signal);
}

std::optional<PendingSignals::Entry> PendingSignals::take(SignalSet wanted) {
  const SignalSet due = set_ & wanted;
  if (due == 0) return std::nullopt;
  const int signal = std::countr_zero(due) + 1;
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& each) { return each.info.si_signo == signal; });
  FERMATA_ASSERT(found != entries_.end());
  const Entry taken = *found;
  entries_.erase(found);
  count();
  return taken;
}

void PendingSignals::drop(SignalSet unwanted) {
  if ((set_ & unwanted) == 0) return;
  std::erase_if(entries_, [&](const Entry& each) {
    return (signal_bit(each.info.si_signo) & unwanted) != 0;
  });
  count();
}

void PendingSignals::drop_timer(int timer) {
  std::erase_if(entries_, [&](const Entry& each) {
    return each.info.si_code == SI_TIMER && each.info.si_timerid == timer;
  });
  count();
}

void PendingSignals::count() {
  set_ = 0;
  for (const Entry& each : entries_) set_ |= signal_bit(each.info.si_signo);
}

}  // namespace fermata::sim::detail
