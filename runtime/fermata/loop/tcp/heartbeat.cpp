// SPDX-License-Identifier: Apache-2.0
#include "fermata/loop/tcp/heartbeat.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"

namespace fermata::loop {

void HeartbeatOptions::check() const {
  constexpr Duration kZero = Duration::zero();
  const bool pings = ping_after > kZero;
  const bool in_order = !pings || dead_after == kZero || ping_after < dead_after;
  if (ping_after < kZero || dead_after < kZero || !in_order) {
    throw UsageError(fmt::format(
        "heartbeat: ping_after {} ns, dead_after {} ns: expected no negative time, and the ping "
        "before death",
        ping_after.count(), dead_after.count()));
  }
  if (pings != (ping != nullptr)) {
    throw UsageError("heartbeat: expected ping and ping_after to be set together");
  }
}

Heartbeat::Heartbeat(const HeartbeatOptions& options, Instant now) noexcept
    : ping_after_(options.ping_after), dead_after_(options.dead_after), pinged_(now) {
  FERMATA_ASSERT(options.on());
  FERMATA_ASSERT(ping_after_ >= Duration::zero() && dead_after_ >= Duration::zero());
  FERMATA_ASSERT(dead_after_ == Duration::zero() || ping_after_ < dead_after_);
}

Heartbeat::Verdict Heartbeat::ask(const Stamps& stamps, Instant now) noexcept {
  Instant next = Instant::never();
  if (dead_after_ > Duration::zero()) {
    const Instant stalled = stamps.unsent_since + dead_after_;
    if (stalled <= now) return {Action::Stalled};
    const Instant silent = stamps.paused ? Instant::never() : stamps.received + dead_after_;
    if (silent <= now) return {Action::Silent};
    // Bytes that begin to wait right now may be what it is about next time.
    next = std::min({stalled, silent, now + dead_after_});
  }
  if (ping_after_ > Duration::zero()) {
    const Instant ping = std::max(stamps.received, pinged_) + ping_after_;
    if (ping <= now) {
      pinged_ = now;
      return {Action::Ping};
    }
    next = std::min(next, ping);
  }
  FERMATA_ASSERT(next > now);
  return {Action::Wait, next};
}

}  // namespace fermata::loop
