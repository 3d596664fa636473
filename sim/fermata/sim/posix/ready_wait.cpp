// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/ready_wait.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/core/wait_facts.hpp"
#include "fermata/sim/machine/machine.hpp"

namespace fermata::sim::detail {

ReadyWait::ReadyWait(Runtime& runtime, Machine& machine, const char* call, std::vector<Item> items)
    : Event(runtime, backend::EventKind::Poll),
      machine_(machine),
      call_(call),
      items_(std::move(items)),
      waiter_(runtime.current() == nullptr ? 0 : runtime.current()->id()),
      report_(*this) {}

ReadyWait::~ReadyWait() {
  close();
  FERMATA_ASSERT(!armed_);
}

std::string ReadyWait::info() const {
  std::string text = call_;
  const char* separator = " (descriptor ";
  for (const Item& each : items_) {
    if (each.descriptor < 0) return text;
    text += separator + fmt::to_string(each.descriptor);
    separator = ", ";
  }
  return items_.empty() ? text : text + ")";
}

void ReadyWait::explain_wait(backend::WaitFacts& facts, const CoroutineBase&) const {
  facts.is(call_, {}, nullptr);
  if (items_.empty()) return facts.outside("nobody: it watches no descriptor");
  for (const Item& each : items_) {
    const std::string state = each.description->state();
    const std::string number =
        each.descriptor < 0 ? "" : fmt::format("descriptor {}, ", each.descriptor);
    facts.state(fmt::format("{}{}{}{}", number, each.description->kind(), state.empty() ? "" : ": ",
                            state));
    facts.outside(each.description->maker());
  }
}

void ReadyWait::arm() {
  armed_ = true;
  for (const Item& each : items_) each.description->add(*this);
  look(kAnything);
}

void ReadyWait::disarm() noexcept {
  if (!std::exchange(armed_, false)) return;
  report_.cancel();
  for (const Item& each : items_) each.description->remove(*this);
}

bool ReadyWait::is_ready() const {
  return std::any_of(items_.begin(), items_.end(), [this](const Item& each) {
    return (each.description->readiness_for(waiter_) & (each.wanted | kAlwaysTold)) != 0;
  });
}

void ReadyWait::look(Readiness) {
  if (!armed_ || report_.is_scheduled() || !is_ready()) return;
  machine_.agenda().schedule(report_, machine_.earliest_visible_time(),
                             items_.front().description->key());
}

// It holds what it watches.
void ReadyWait::gone(Description&) { FERMATA_ASSERT(false); }

// Somebody else may have taken what was there.
void ReadyWait::tell() {
  if (is_ready()) notify({});
}

}  // namespace fermata::sim::detail
