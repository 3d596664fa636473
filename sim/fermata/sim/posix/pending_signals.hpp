// SPDX-License-Identifier: Apache-2.0
#pragma once

// Signals that have come and that nobody has let in yet.

#include <csignal>
#include <cstdint>
#include <optional>
#include <vector>

namespace fermata::sim::detail {

/// A bit for each signal, from bit 0 for signal 1.
using SignalSet = std::uint64_t;

[[nodiscard]] constexpr bool is_signal(int signal) noexcept { return signal > 0 && signal < NSIG; }
[[nodiscard]] constexpr SignalSet signal_bit(int signal) noexcept {
  return SignalSet{1} << (signal - 1);
}
/// Without those that nobody can keep out.
[[nodiscard]] SignalSet set_of(const sigset_t& set) noexcept;
[[nodiscard]] sigset_t set_from(SignalSet set) noexcept;

class PendingSignals {
 public:
  struct Entry {
    siginfo_t info = {};
    const char* call = nullptr;  // What raised it, for people; null: what anybody may call.
  };

  [[nodiscard]] SignalSet set() const noexcept { return set_; }
  /// Signals of real time and those of timers wait as often as they have come, any other one once.
  void add(const Entry& entry);
  /// The first of the lowest number among `wanted`, which does not wait any longer.
  [[nodiscard]] std::optional<Entry> take(SignalSet wanted);
  void drop(SignalSet unwanted);
  /// Drops what a timer of timer_create() has sent.
  void drop_timer(int timer);

 private:
  void count();

  std::vector<Entry> entries_;  // In the order in which they came.
  SignalSet set_ = 0;
};

}  // namespace fermata::sim::detail
