// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fermata/core/reactor.hpp"
#include "fermata/reactor/trigger.hpp"

namespace fermata::os {

/// Every trigger shares the reactor's own wake-up.
class Triggers final : public fermata::Triggers {
 public:
  Triggers(fermata::detail::Attachment& attachment, Reactor& reactor) noexcept
      : fermata::Triggers(attachment), reactor_(reactor) {}

  using fermata::Triggers::deliver;

 private:
  void request_delivery() noexcept override { reactor_.wake(); }

  Reactor& reactor_;
};

}  // namespace fermata::os
