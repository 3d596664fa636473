// SPDX-License-Identifier: Apache-2.0
#pragma once

// The way of datagrams from one machine to another, or to itself.
//
// Order   Calm, and under Fault::Delay alone, first in, first out. Datagrams may be lost, arrive a
//         second time, and overtake each other: each by a fault of its own.

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "fermata/runtime/base/time.hpp"
#include "fermata/runtime/reactor/address.hpp"
#include "fermata/sim/world/fault.hpp"
#include "fermata/sim/world/member_happening.hpp"

namespace fermata::sim::detail {

class DatagramNetwork;
class LinkState;
class NodeState;

/// A datagram under way.
struct Packet {
  Address source;
  Address destination;
  std::vector<std::byte> bytes;
  bool by_loopback = false;  // Sent through the machine's loopback interface.
};

using PacketRef = std::shared_ptr<const Packet>;

class DatagramWay {
 public:
  DatagramWay(LinkState& link, DatagramNetwork& network);

  void send(const PacketRef& packet);
  /// The link is open again: what waits leaves at `when`.
  void reopened(Instant when);

 private:
  struct UnderWay {
    Instant arrival;
    PacketRef packet;
  };

  void send_on(const PacketRef& packet, Instant arrival);
  void put_under_way(const PacketRef& packet, Instant arrival);
  void expect_next();
  void arrive();
  [[nodiscard]] std::uint64_t key(Fault fault);

  LinkState& link_;
  NodeState& from_;
  NodeState& to_;
  DatagramNetwork& network_;
  std::uint64_t key_;
  std::vector<PacketRef> waiting_;  // For the link to be opened.
  std::deque<UnderWay> under_way_;  // By arrival; of equal ones, as they were sent.
  Instant last_arrival_;            // Of those that were not overtaken.
  MemberHappening<DatagramWay> arrival_;
};

}  // namespace fermata::sim::detail
