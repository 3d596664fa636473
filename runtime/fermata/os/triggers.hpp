// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fermata/core/reactor.hpp"
#include "fermata/reactor/trigger.hpp"

namespace fermata::os {

/// Every trigger shares the reactor's own wake-up.
class Triggers final : public fermata::backend::Triggers {
 public:
  Triggers(fermata::detail::Attachment& attachment, backend::Reactor& reactor) noexcept
      : fermata::backend::Triggers(attachment), reactor_(reactor) {}

  using fermata::backend::Triggers::deliver;

 private:
  void request_delivery() noexcept override { reactor_.wake(); }

  backend::Reactor& reactor_;
};

}  // namespace fermata::os
