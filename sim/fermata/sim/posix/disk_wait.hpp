// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "fermata/core/event.hpp"
#include "fermata/sim/machine/machine.hpp"
#include "fermata/sim/machine/member_happening.hpp"

namespace fermata::sim::detail {

/// Fires when the disk carries out a call. Lives in the frame of a coroutine that waits for it.
class DiskWait final : public Event {
 public:
  /// `call` is what reports call the wait: "fsync". It comes at `when`; between waits of different
  /// `source` the order is free.
  DiskWait(Runtime& runtime, Machine& machine, const char* call, const std::string& path,
           Instant when, std::uint64_t source);
  ~DiskWait() override;

  [[nodiscard]] std::string info() const override;
  void explain_wait(backend::WaitFacts& facts, const CoroutineBase& waiter) const override;

 private:
  void arm() override;
  void disarm() noexcept override { end_.cancel(); }
  void dispose() noexcept override {}
  void tell() { notify({}); }

  Machine& machine_;
  const char* call_;
  const std::string& path_;
  Instant when_;
  std::uint64_t source_;
  MemberHappening<DiskWait, &DiskWait::tell> end_;
};

}  // namespace fermata::sim::detail
