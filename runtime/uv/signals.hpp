// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fermata/runtime/reactor/signal.hpp"
#include "fermata/runtime/reactor/signal_registry.hpp"
#include "fermata/runtime/uv/loop.hpp"

namespace fermata::uv::detail {

/// Signals through the registry of the process; the handler wakes the loop.
class Signals final : public fermata::Signals {
 public:
  explicit Signals(Loop& loop)
      : fermata::Signals(loop.attachment()),
        mailbox_([](void* woken) noexcept { static_cast<Loop*>(woken)->wake(); }, &loop) {}

  /// Notifies whoever waits for signals that have arrived.
  void deliver_raised() {
    mailbox_.collect([this](int signum) { deliver(signum); });
  }

 private:
  void install(int signum) override { mailbox_.watch(signum); }
  void uninstall(int signum) noexcept override { mailbox_.unwatch(signum); }

  fermata::detail::SignalMailbox mailbox_;
};

}  // namespace fermata::uv::detail
