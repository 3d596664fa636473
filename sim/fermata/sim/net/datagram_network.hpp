// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who receives datagrams where, and how they get there.
//
// Destinations  A machine of the world, 255.255.255.255 for all of them, or a multicast group. What
//               is sent to a place where nobody receives is lost, and the sender does not learn of
//               it unless its socket is connected to that place.

#include <cstdint>
#include <memory>
#include <vector>

#include "fermata/reactor/address.hpp"
#include "fermata/sim/net/datagram_way.hpp"
#include "fermata/sim/net/free_ports.hpp"

namespace fermata::sim::detail {

class LinkTable;
class Machine;

/// A socket. Calls no user code.
class PacketReceiver {
 public:
  /// Returns whether there is room for it.
  virtual bool arrived(const PacketRef& packet) = 0;
  /// Whether it takes what comes from there, if there is room.
  [[nodiscard]] virtual bool takes_from(const Address& source) const noexcept = 0;

 protected:
  ~PacketReceiver() = default;
};

/// Where a datagram to a group or to everybody goes; one to a single machine goes anywhere.
struct Reach {
  bool own_machine = true;
  bool others = true;
};

/// How a socket shares its port with others.
struct Sharing {
  bool reuse_address = false;  // With those that say so as well.
  bool only_v6 = false;        // With those of version 4: at :: it gets no datagrams of that.
};

class DatagramNetwork final : private PacketSwitch {
 public:
  explicit DatagramNetwork(LinkTable& links) noexcept : links_(links) {}
  DatagramNetwork(const DatagramNetwork&) = delete;
  DatagramNetwork& operator=(const DatagramNetwork&) = delete;

  /// Returns to the initial state: nobody receives, nothing is in flight.
  void reset() noexcept;

  /// Binds `receiver` at `wanted` on `machine`, port 0 for any, and returns the address. Throws
  /// InputOutputError: the address is in use, or is not an address of that machine.
  Address bind(Machine& machine, const Address& wanted, PacketReceiver& receiver,
               const Sharing& sharing);
  void unbind(const PacketReceiver& receiver) noexcept;

  /// Joins a group on the network, or on the machine's loopback interface. Returns an errno value.
  int join(const PacketReceiver& receiver, const Address& group, bool by_loopback);
  int leave(const PacketReceiver& receiver, const Address& group, bool by_loopback);

  void send(Machine& from, Packet packet, Reach reach);
  /// What waits for this link leaves at `when`.
  void reopened(const LinkState& link, Instant when);

 private:
  struct Membership {
    Address group;  // Without a port.
    bool by_loopback;
    friend bool operator==(const Membership&, const Membership&) = default;
  };
  struct Bound {
    PacketReceiver* receiver;
    Machine* machine;
    Address address;
    Sharing sharing;
    std::vector<Membership> groups = {};
  };

  bool arrived(Machine& machine, const PacketRef& packet) override;
  /// Where the way from one machine to another is kept; null until somebody sends there.
  [[nodiscard]] std::unique_ptr<DatagramWay>& way(const Machine& from, const Machine& to);
  /// Tells the sender that nobody receives it on `machine`.
  void refuse(Machine& machine, const Packet& packet);
  void send_to(Machine& from, Machine& to, const PacketRef& packet);
  [[nodiscard]] bool in_use(const Machine& machine, const Address& address,
                            const Sharing& sharing) const;
  [[nodiscard]] static bool gets(const Address& address, const Sharing& sharing,
                                 IpVersion version) noexcept;
  [[nodiscard]] Bound& bound(const PacketReceiver& receiver);
  [[nodiscard]] static bool hears(const Bound& bound, const Packet& packet);

  LinkTable& links_;
  std::vector<std::vector<std::unique_ptr<DatagramWay>>> ways_;  // By the machines' numbers.
  std::vector<Bound> bound_;                                     // In the order of binding.
  FreePorts free_ports_;
};

}  // namespace fermata::sim::detail
