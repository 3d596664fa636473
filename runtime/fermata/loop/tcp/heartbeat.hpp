// SPDX-License-Identifier: Apache-2.0
#pragma once

// When a silent peer is asked whether it lives, and when it is taken for dead.

#include <cstdint>
#include <functional>

#include "fermata/base/time.hpp"

namespace fermata::loop {

class TcpConnection;

struct HeartbeatOptions {
  /// Without a byte from the peer for so long, `ping` is called, and again after as long; zero for
  /// never.
  Duration ping_after = Duration::zero();
  /// Without a byte for so long, or with bytes to send that do not go away, the connection is
  /// destroyed; zero for never. While receiving is paused, and after the peer's end, nothing can be
  /// heard, and only the second counts.
  Duration dead_after = Duration::zero();
  /// Sends whatever the protocol answers. Set exactly when `ping_after` is.
  std::function<void(TcpConnection&)> ping;

  /// Throws UsageError for a negative time, for a ping that is not before death, and for a ping
  /// time without a ping.
  void check() const;
  [[nodiscard]] bool on() const noexcept {
    return ping_after > Duration::zero() || dead_after > Duration::zero();
  }
};

/// Decides what to do about a connection, from its time stamps. Has no timer.
class Heartbeat {
 public:
  enum class Action : std::uint8_t { Wait, Ping, Silent, Stalled };
  struct Verdict {
    Action action = Action::Wait;
    /// Zero unless waiting: when to ask again at the latest. never(): not before something happens.
    Instant again{};
  };
  struct Stamps {
    Instant received;      // The last byte came, or the peer could be heard again.
    Instant unsent_since;  // never() while there is nothing to send.
    bool paused = false;   // The peer cannot be heard.
  };

  /// REQUIRES: the options are checked and on.
  Heartbeat(const HeartbeatOptions& options, Instant now) noexcept;

  [[nodiscard]] Verdict ask(const Stamps& stamps, Instant now) noexcept;

 private:
  Duration ping_after_;
  Duration dead_after_;
  Instant pinged_;
};

}  // namespace fermata::loop
