// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "fermata/base/assert.hpp"
#include "fermata/reactor/signal.hpp"

namespace fermata::sim::detail {

class Program;

/// Signals that a test sends to a program. One that comes again before it is seen is seen once.
class SimSignals final : public backend::Signals {
 public:
  SimSignals(fermata::detail::Attachment& attachment, Program& program)
      : backend::Signals(attachment), program_(program) {}

  void raise(int signum);
  void deliver_pending() {
    if (raised_ != 0) deliver_raised();
  }
  /// Which signals the runtime itself wants to be told of.
  void control(std::span<const int> signums) noexcept;
  [[nodiscard]] backend::SignalOwners& owners() noexcept override { return owners_; }
  void end_run() noexcept { raised_ = control_ = 0; }

 private:
  void deliver_raised();

  /// A bit for each signal.
  using Set = std::uint64_t;
  static constexpr Set bit(int signum) noexcept {
    FERMATA_ASSERT(signum >= 1);
    FERMATA_ASSERT(signum <= 64);
    return Set{1} << (signum - 1);
  }

  void install(int signum) override { installed_ |= bit(signum); }
  void uninstall(int signum) noexcept override { installed_ &= ~bit(signum); }

  Program& program_;
  backend::SignalOwners owners_;
  Set raised_ = 0;
  Set installed_ = 0;
  Set control_ = 0;
};

}  // namespace fermata::sim::detail
