// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fermata/reactor/trigger.hpp"
#include "fermata/sim/machine/agenda.hpp"
#include "fermata/sim/machine/machine.hpp"

namespace fermata::sim::detail {

/// Triggers of a machine. A fire is seen in the next turn.
class SimTriggers final : public backend::Triggers {
 public:
  SimTriggers(fermata::detail::Attachment& attachment, Machine& machine)
      : backend::Triggers(attachment), machine_(machine), delivery_(*this) {}

 private:
  struct Delivery final : Happening {
    explicit Delivery(SimTriggers& t) : triggers(t) {}
    void happen() override { triggers.deliver(); }
    SimTriggers& triggers;
  };

  void request_delivery() noexcept override {
    if (delivery_.is_scheduled()) return;
    machine_.agenda().schedule(delivery_, machine_.earliest_visible_time(),
                               key_of(machine_.key(), "triggers"));
  }

  Machine& machine_;
  Delivery delivery_;
};

}  // namespace fermata::sim::detail
