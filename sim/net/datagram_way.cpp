// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/net/datagram_way.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fermata/sim/net/datagram_network.hpp"
#include "fermata/sim/net/latency.hpp"
#include "fermata/sim/net/link_state.hpp"
#include "fermata/sim/world/fault_plan.hpp"
#include "fermata/sim/world/node_state.hpp"

namespace fermata::sim::detail {

DatagramWay::DatagramWay(LinkState& link, DatagramNetwork& network)
    : link_(link),
      from_(link.from()),
      to_(link.to()),
      network_(network),
      key_(key_of(link.key(), "datagrams")),
      arrival_(*this, &DatagramWay::arrive) {}

std::uint64_t DatagramWay::key(Fault fault) {
  const std::uint64_t key = key_of(key_, to_string(fault));
  if (from_.decisions().naming()) {
    from_.decisions().name(
        key, fmt::format("{} of datagrams {} -> {}", to_string(fault), from_.name(), to_.name()));
  }
  return key;
}

void DatagramWay::send(const PacketRef& packet) {
  if (from_.faults().strikes(Fault::DatagramLoss, Stream::Network, key(Fault::DatagramLoss))) {
    return;
  }
  const LinkState::Passage passage = link_.passage(packet->bytes.size());
  if (passage.lost) return;
  if (passage.arrival != Instant::never()) {
    send_on(packet, passage.arrival);
  } else {
    waiting_.push_back(packet);
  }
}

void DatagramWay::reopened(Instant when) {
  for (const PacketRef& packet : std::exchange(waiting_, {})) {
    send_on(packet, link_.carried(when, packet->bytes.size()));
  }
}

void DatagramWay::send_on(const PacketRef& packet, Instant arrival) {
  const Duration delay = extra_delay(from_, Fault::Delay, key(Fault::Delay));
  last_arrival_ = std::max(arrival + delay, last_arrival_);
  const Duration held_up = extra_delay(from_, Fault::DatagramReorder, key(Fault::DatagramReorder));
  put_under_way(packet, last_arrival_ + held_up);
  const Duration again =
      extra_delay(from_, Fault::DatagramDuplicate, key(Fault::DatagramDuplicate));
  if (again > Duration::zero()) put_under_way(packet, last_arrival_ + held_up + again);
  expect_next();
}

void DatagramWay::put_under_way(const PacketRef& packet, Instant arrival) {
  const auto later =
      std::upper_bound(under_way_.begin(), under_way_.end(), arrival,
                       [](Instant when, const UnderWay& other) { return when < other.arrival; });
  under_way_.insert(later, {arrival, packet});
}

void DatagramWay::expect_next() {
  arrival_.cancel();
  if (!under_way_.empty()) to_.agenda().schedule(arrival_, under_way_.front().arrival, key_);
}

void DatagramWay::arrive() {
  // A machine that ends lets everything happen at once: its clock stands still then.
  const Instant now = std::max(to_.now(), under_way_.front().arrival);
  while (!under_way_.empty() && under_way_.front().arrival <= now) {
    const PacketRef packet = std::move(under_way_.front().packet);
    under_way_.pop_front();
    network_.arrived(to_, packet);
  }
  expect_next();
}

}  // namespace fermata::sim::detail
