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

#include "fermata/base/time.hpp"
#include "fermata/reactor/address.hpp"
#include "fermata/sim/machine/fault.hpp"
#include "fermata/sim/machine/member_happening.hpp"
#include "fermata/sim/record/message_log.hpp"

namespace fermata::sim::detail {

class LinkState;
class Machine;

/// A datagram under way.
struct Packet {
  Address source;
  Address destination;
  std::vector<std::byte> bytes;
  bool by_loopback = false;  // Sent through the machine's loopback interface.
  bool connected = false;    // Its sender wants to know when nobody receives it,
  bool refuses = false;      // and this says so: an ICMP message, not a datagram.
};

using PacketRef = std::shared_ptr<const Packet>;

/// Hands datagrams to those whom they are for.
class PacketSwitch {
 public:
  /// `packet` has come to `machine`. Returns whether anybody there takes it.
  virtual bool arrived(Machine& machine, const PacketRef& packet) = 0;

 protected:
  ~PacketSwitch() = default;
};

/// For people: `from` sends it to `to`. 0 when nobody is told, as of a refusal.
MessageLog::Id note_datagram(const Machine& from, const Machine& to, const Packet& packet,
                             Message::Fate fate);

class DatagramWay {
 public:
  DatagramWay(LinkState& link, PacketSwitch& destination);

  void send(const PacketRef& packet);
  /// The link is open again: what waits leaves at `when`.
  void reopened(Instant when);

 private:
  struct Waiting {
    PacketRef packet;
    MessageLog::Id noted;
    std::uint64_t number;  // Among all that were sent here, from 1.
  };
  struct UnderWay {
    Instant arrival;
    PacketRef packet;
    MessageLog::Id noted;
  };

  void send_on(const Waiting& sent, Instant arrival);
  void put_under_way(const PacketRef& packet, MessageLog::Id noted, Instant arrival);
  void note_loss(MessageLog::Id noted) const;
  void note_arrival(MessageLog::Id noted, bool taken, Instant now) const;
  void expect_next();
  void arrive();
  /// What `fault` adds to the time that it is under way; reports put `does` before the amount.
  [[nodiscard]] Duration extra_delay(const Waiting& sent, Fault fault, const char* does);
  /// "the 2nd datagram client -> server".
  [[nodiscard]] std::string text(const Waiting& sent) const;

  LinkState& link_;
  Machine& from_;
  Machine& to_;
  PacketSwitch& destination_;
  std::uint64_t key_;
  std::uint64_t sent_ = 0;
  std::vector<Waiting> waiting_;    // For the link to be opened.
  std::deque<UnderWay> under_way_;  // By arrival; of equal ones, as they were sent.
  Instant last_arrival_;            // Of those that were not overtaken.
  MemberHappening<DatagramWay, &DatagramWay::arrive> arrival_;
};

}  // namespace fermata::sim::detail
