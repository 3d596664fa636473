// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fermata/sim/posix/description.hpp"
#include "fermata/sim/posix/pending_signals.hpp"

namespace fermata::sim::detail {

class ForeignSignals;

/// A signalfd(2): reading takes signals that wait for its reader, or for the process.
class SignalDescriptor final : public Description {
 public:
  SignalDescriptor(Machine& machine, std::uint64_t serial, ForeignSignals& signals,
                   SignalSet wanted);
  ~SignalDescriptor() override;

  void set(SignalSet wanted);
  /// One has come that is kept out.
  void came(int signal);
  /// The process is no more.
  void leave_process() noexcept { signals_ = nullptr; }

  [[nodiscard]] std::string maker() override { return "whoever sends a signal"; }
  [[nodiscard]] ssize_t read(std::span<const iovec> target) override;
  /// What any thread would see.
  [[nodiscard]] Readiness readiness() override;
  [[nodiscard]] Readiness readiness_for(std::uint64_t reader) override;

 private:
  ForeignSignals* signals_;  // Null when the process is no more.
  SignalSet wanted_;
};

}  // namespace fermata::sim::detail
