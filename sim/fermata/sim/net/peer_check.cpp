// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/net/peer_check.hpp"

#include <algorithm>

#include "fermata/base/assert.hpp"
#include "fermata/sim/machine/machine.hpp"

namespace fermata::sim::detail {

namespace {

/// What Linux gives up after when nobody answers a SYN: six repetitions, the first after a second.
constexpr Duration kDialTimeout = std::chrono::seconds(127);
constexpr Duration kFirstDialRetry = std::chrono::seconds(1);
/// What Linux gives up after when data of a connection is not acknowledged: 15 repetitions.
constexpr Duration kSendTimeout = std::chrono::milliseconds(924'600);
constexpr Duration kFirstPause = std::chrono::milliseconds(200);
constexpr Duration kLongestPause = std::chrono::seconds(120);

}  // namespace

PeerCheck::PeerCheck(Connection& connection, Connection::Side side, std::uint64_t key)
    : connection_(connection), side_(side), key_(key), look_(*this), give_up_(*this) {
  if (side == Connection::Server) established();  // The client's last word has made it so.
}

// The end may have been idle for long, and its time be that of its last turn.
Instant PeerCheck::now() const noexcept { return machine().world_now(); }

void PeerCheck::set(const Patience& patience) {
  FERMATA_ASSERT(!connection_.local());
  if (patience == patience_) return;
  if (patience.asks && !patience_.asks) asks_since_ = now();
  patience_ = patience;
  if (!is_repeating()) look_.cancel();
  doubt();
}

Duration PeerCheck::dial_limit() const noexcept {
  const Duration limit = patience_.user_timeout;
  return limit > Duration::zero() ? std::clamp(limit, kFirstDialRetry, kDialTimeout) : kDialTimeout;
}

void PeerCheck::established() noexcept {
  is_established_ = true;
  heard_ = now();
  doubt();
}

Instant PeerCheck::heard() const noexcept {
  FERMATA_ASSERT(is_established_);
  Instant last = heard_;
  const auto consider = [&](Instant arrival, Duration way) {
    if (arrival != Instant::never()) last = std::max(last, arrival + way);
  };
  consider(connection_.to(side_).last_arrival(), Duration::zero());
  consider(connection_.to(Connection::other(side_)).last_arrival(), connection_.least_latency());
  return last;
}

// --- what is not acknowledged ---

void PeerCheck::sent_in_doubt(Instant arrival) {
  if (arrival == Instant::never()) return expect_acknowledgement();
  FERMATA_ASSERT(is_established_);
  const Duration limit = patience_.user_timeout;
  const Instant acknowledged = arrival + connection_.least_latency();
  if (acknowledged > machine().now() + kFirstPause + limit) expect_acknowledgement();
}

// Linux counts the user's limit from the first repetition on.
void PeerCheck::expect_acknowledgement() {
  FERMATA_ASSERT(!connection_.local());
  if (give_up_.is_scheduled()) return;
  const bool is_limited = is_established_ && patience_.user_timeout > Duration::zero();
  const Duration limit = is_limited ? kFirstPause + patience_.user_timeout : kSendTimeout;
  machine().agenda().schedule(give_up_, machine().now() + limit, key_of(key_, "give up"));
}

void PeerCheck::lost() {
  FERMATA_ASSERT(!connection_.local());
  if (!patience_.repeats || is_repeating()) return;
  look_.cancel();
  pause_ = kFirstPause;
  machine().agenda().schedule(look_, now() + pause_, key_of(key_, "repeat"));
  expect_acknowledgement();
}

void PeerCheck::repeat() {
  FERMATA_ASSERT(is_repeating());
  if (connection_.ask(side_) != Connection::Echo::None) return stop();
  pause_ = std::min(2 * pause_, kLongestPause);
  machine().agenda().schedule(look_, now() + pause_, key_of(key_, "repeat"));
}

void PeerCheck::peer_vanished() {
  FERMATA_ASSERT(connection_.vanished(Connection::other(side_)));
  const bool under_way = connection_.to(Connection::other(side_)).last_arrival() > now();
  under_way ? lost() : doubt();
}

void PeerCheck::path_restored() {
  FERMATA_ASSERT(!connection_.link_closed(side_));
  if (is_repeating()) return;
  const bool waited = give_up_.is_scheduled();
  give_up_.cancel();
  waited&& connection_.vanished(Connection::other(side_)) ? lost() : doubt();
}

// --- keep-alive ---

// Until now it has answered whenever it was asked.
void PeerCheck::doubt() {
  const bool waits = look_.is_scheduled() || give_up_.is_scheduled();
  if (!patience_.asks || !is_established_ || waits || connection_.broken(side_)) return;
  if (connection_.can_hear(side_)) return;
  asked_ = 0;
  heard_ = std::max(heard(), asks_since_);
  const Duration silence = now() - heard_;
  FERMATA_ASSERT(patience_.idle > Duration::zero());
  if (silence > Duration::zero()) heard_ = heard_ + silence / patience_.idle * patience_.idle;
  machine().agenda().schedule(look_, heard_ + patience_.idle, key_of(key_, "ask"));
}

void PeerCheck::ask() {
  FERMATA_ASSERT(is_established_ && patience_.asks);
  if (asked_enough()) return give_up();
  if (connection_.ask(side_) != Connection::Echo::None) {
    heard_ = now();
    return;
  }
  ++asked_;
  machine().agenda().schedule(look_, now() + patience_.interval, key_of(key_, "ask"));
}

// The user's limit is in place of the number.
bool PeerCheck::asked_enough() const noexcept {
  if (patience_.user_timeout == Duration::zero()) return asked_ >= patience_.questions_max;
  return asked_ > 0 && now() - heard() >= patience_.user_timeout;
}

// --- both ---

void PeerCheck::look() {
  FERMATA_ASSERT(!look_.is_scheduled());
  if (connection_.broken(side_)) return stop();
  is_repeating() ? repeat() : ask();
}

void PeerCheck::give_up() {
  FERMATA_ASSERT(!connection_.local());
  stop();
  if (!connection_.broken(side_)) connection_.give_up(side_);
}

void PeerCheck::stop() noexcept {
  look_.cancel();
  give_up_.cancel();
  pause_ = Duration::zero();
}

}  // namespace fermata::sim::detail
