// SPDX-License-Identifier: Apache-2.0
#pragma once

// Closes a channel whose waiters have starved for too long (CHAN-18, CHAN-19).
//
// Timer  One for each guarded channel, armed while somebody waits who has been promised nothing;
//        set back by progress. A soft guard's is hidden: it keeps no program alive, but a deadlock
//        closes the channel before it is declared.

#include "fermata/base/time.hpp"
#include "fermata/core/soft_resolver.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/sync/channel_error.hpp"

namespace fermata {

struct ChannelOptions {
  /// Receivers that wait this long for a value close the channel: NoProducers. Zero for never.
  Duration no_producer_timeout = Duration::zero();
  /// Senders that wait this long for room close the channel: NoConsumers. Zero for never.
  Duration no_consumer_timeout = Duration::zero();
  /// The timeouts keep the program alive and hide a deadlock until they have passed. Otherwise a
  /// deadlock closes the channel at once: Deadlock.
  bool hard_timeouts = false;
};

namespace detail {

class ChannelCore;

enum class Starving : std::uint8_t { Nobody, Receivers, Senders };

class ChannelGuard final : private backend::Callback, private SoftResolver {
 public:
  ChannelGuard(ChannelCore& channel, const ChannelOptions& options);
  ~ChannelGuard();

  /// Updates which side waits in vain; `progress` when a value has moved since the last call.
  void update(Starving starving, bool progress);
  void disarm() noexcept;

 private:
  [[nodiscard]] Duration patience_of(Starving starving) const noexcept;
  void run(Event& timer, const Outcome& outcome) override;
  void resolve() override;
  void destroy() noexcept override {}

  ChannelCore& channel_;
  const ChannelOptions options_;
  Timer timer_;
  Starving starving_ = Starving::Nobody;  // Whose patience the timer measures.
  bool listed_ = false;                   // As a soft resolver.
};

}  // namespace detail
}  // namespace fermata
