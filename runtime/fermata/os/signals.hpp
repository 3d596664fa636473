// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fermata/core/reactor.hpp"
#include "fermata/reactor/signal.hpp"
#include "fermata/reactor/signal_registry.hpp"

namespace fermata::os {

/// Signals through the registry of the process; the handler wakes the reactor.
class Signals final : public fermata::backend::Signals {
 public:
  Signals(fermata::detail::Attachment& attachment, backend::Reactor& reactor)
      : fermata::backend::Signals(attachment),
        mailbox_([](void* woken) noexcept { static_cast<backend::Reactor*>(woken)->wake(); },
                 &reactor) {}

  /// Notifies whoever waits for signals that have arrived.
  void deliver_raised() {
    mailbox_.collect([this](int signum) { deliver(signum); });
  }

  [[nodiscard]] backend::SignalOwners& owners() noexcept override {
    static auto* const of_the_process = new backend::SignalOwners;
    return *of_the_process;
  }

 private:
  void install(int signum) override { mailbox_.watch(signum); }
  void uninstall(int signum) noexcept override { mailbox_.unwatch(signum); }

  fermata::detail::SignalMailbox mailbox_;
};

}  // namespace fermata::os
