// SPDX-License-Identifier: Apache-2.0
#pragma once

// How an end of a connection finds out that nobody is at the other one any more when it is not
// told, as Linux does.
//
// Repeats  What is not acknowledged is sent again, after 200 ms, 400 ms and so on.
// Asks     Who has nothing to be acknowledged, and SO_KEEPALIVE, asks a peer that is silent.
// Answers  A machine that is up again, and knows of no connection, answers both with a reset.
//          Without any answer the end gives up, with ETIMEDOUT.
//
// While the peer can be heard nothing of this is an event: it acknowledges, and answers. Nothing is
// drawn.

#include <cstdint>

#include "fermata/base/time.hpp"
#include "fermata/sim/machine/member_happening.hpp"
#include "fermata/sim/net/connection.hpp"

namespace fermata::sim::detail {

class Machine;

/// What an end does about a peer that is silent. The numbers are Linux's.
struct Patience {
  /// What is lost with the peer's machine is sent again.
  bool repeats = false;
  /// SO_KEEPALIVE, TCP_KEEPIDLE, TCP_KEEPINTVL and TCP_KEEPCNT.
  bool asks = false;
  Duration idle = std::chrono::hours(2);
  Duration interval = std::chrono::seconds(75);
  int questions_max = 9;
  /// TCP_USER_TIMEOUT; 0: as long as the system waits.
  Duration user_timeout = Duration::zero();

  friend bool operator==(const Patience&, const Patience&) = default;
};

class PeerCheck {
 public:
  /// `key` names the end in the keys of draws.
  PeerCheck(Connection& connection, Connection::Side side, std::uint64_t key);

  void set(const Patience& patience);
  /// How long the end goes on to dial.
  [[nodiscard]] Duration dial_limit() const noexcept;
  /// The connection is established.
  void established() noexcept;
  /// What the end sends now arrives then; never() while nobody knows.
  void sent(Instant arrival) {
    const bool is_limited = is_established_ && patience_.user_timeout != Duration::zero();
    if (is_limited || arrival == Instant::never()) sent_in_doubt(arrival);
  }
  /// What the end sends now is lost, since the machine of the peer is down.
  void lost();
  /// The machine of the peer has crashed, and nobody tells.
  void peer_vanished();
  /// What is sent between the ends may not get through from now on.
  void path_worsened() { doubt(); }
  /// The way to the peer is open again, for what has waited as well.
  void path_restored();
  /// Nobody is at this end any more.
  void stop() noexcept;

 private:
  [[nodiscard]] Machine& machine() const noexcept { return *connection_.end(side_).machine; }
  [[nodiscard]] Instant now() const noexcept;
  void sent_in_doubt(Instant arrival);
  /// When the peer was heard last, as far as is known.
  [[nodiscard]] Instant heard() const noexcept;
  [[nodiscard]] bool is_repeating() const noexcept { return pause_ > Duration::zero(); }
  /// Begins to ask a peer that cannot be heard now.
  void doubt();
  void look();
  void repeat();
  void ask();
  [[nodiscard]] bool asked_enough() const noexcept;
  void expect_acknowledgement();
  void give_up();

  Connection& connection_;
  Connection::Side side_;
  std::uint64_t key_;
  Patience patience_;
  bool is_established_ = false;
  Instant heard_;        // At least then; when it was established, or has answered.
  Instant asks_since_;   // When SO_KEEPALIVE was set.
  Duration pause_ = {};  // Until it is sent again; 0: nothing is.
  int asked_ = 0;        // Without an answer.
  MemberHappening<PeerCheck, &PeerCheck::look> look_;
  MemberHappening<PeerCheck, &PeerCheck::give_up> give_up_;
};

}  // namespace fermata::sim::detail
