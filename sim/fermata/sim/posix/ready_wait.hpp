// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fermata/core/event.hpp"
#include "fermata/sim/machine/member_happening.hpp"
#include "fermata/sim/posix/description.hpp"

namespace fermata::sim::detail {

/// Fires when one of some descriptions is ready for what is wanted of it, in a turn of the reactor.
/// Lives in the frame of a coroutine that waits for it.
class ReadyWait final : public Event, private DescriptionWatcher {
 public:
  struct Item {
    std::shared_ptr<Description> description;
    Readiness wanted;
    int descriptor;  // For people; negative when it has none.
  };

  /// `call` is what reports call the wait: "recv".
  ReadyWait(Runtime& runtime, Machine& machine, const char* call, std::vector<Item> items);
  ~ReadyWait() override;

  [[nodiscard]] std::string info() const override;
  void explain_wait(backend::WaitFacts& facts, const CoroutineBase& waiter) const override;

 private:
  void arm() override;
  void disarm() noexcept override;
  void dispose() noexcept override {}
  void look(Readiness news) override;
  void gone(Description& description) override;
  void tell();
  [[nodiscard]] bool is_ready() const;

  Machine& machine_;
  const char* call_;
  std::vector<Item> items_;
  std::uint64_t waiter_;
  MemberHappening<ReadyWait, &ReadyWait::tell> report_;
  bool armed_ = false;
};

}  // namespace fermata::sim::detail
