// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who listens where, and how connections come about; datagrams have a network of their own here.

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fermata/reactor/address.hpp"
#include "fermata/sim/net/connection.hpp"
#include "fermata/sim/net/datagram_network.hpp"
#include "fermata/sim/net/free_ports.hpp"
#include "fermata/sim/net/link_table.hpp"
#include "fermata/sim/net/name_table.hpp"

namespace fermata::sim::detail {

class Machine;

/// Which versions of IP a socket gets that is bound at ::.
enum class BoundVersions : std::uint8_t {
  AsTheAddress,  // both
  OnlyV6,        // IPV6_V6ONLY
};

/// Somebody who listens at an address.
class Listening {
 public:
  /// Takes the connection into its queue; false when that is full.
  virtual bool arrived(const std::shared_ptr<Connection>& connection) = 0;

 protected:
  ~Listening() = default;
};

/// Who has Unix sockets of a machine by names of its own.
class LocalNames {
 public:
  /// Null when nobody listens there.
  [[nodiscard]] virtual Listening* listening_at(const std::string& path) const = 0;
  [[nodiscard]] virtual bool is_bound(const std::string& path) const = 0;

 protected:
  ~LocalNames() = default;
};

class Network final : private Links {
 public:
  Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  ~Network() { forget_connections(); }

  /// Numbers start again.
  void reset() noexcept;

  /// Binds `listening` at `wanted` on `machine`, port 0 for any, and returns the address. Null: the
  /// place is taken, and nobody listens there. Throws InputOutputError: the address is in use, or
  /// is not an address of that machine.
  Address bind(Machine& machine, const Address& wanted, Listening* listening,
               BoundVersions versions = BoundVersions::AsTheAddress);
  /// Somebody begins to listen at an address that is bound.
  void listen(const Machine& machine, const Address& address, Listening& listening) noexcept;
  void unbind(const Machine& machine, const Address& address) noexcept;
  /// A Unix socket; otherwise as above. Behind '@' stands an abstract name, of any bytes.
  void bind(const Machine& machine, const std::string& path, Listening* listening);
  void listen(const Machine& machine, const std::string& path, Listening& listening) noexcept;
  void unbind(const Machine& machine, const std::string& path) noexcept;
  /// Names are looked for there as well from now on; null: nowhere else.
  void set_local_names(const Machine& machine, const LocalNames* names);
  /// The listener of the machine `server` at `address` for connections from `client`, or null.
  [[nodiscard]] Listening* listening_at(const Machine& server, const Address& address,
                                        const Machine& client) const noexcept;
  [[nodiscard]] Listening* listening_at(const Machine& machine,
                                        const std::string& path) const noexcept;
  /// Whether a Unix socket is bound there, listening or not; not by local names.
  [[nodiscard]] bool is_bound(const Machine& machine, const std::string& path) const noexcept;

  /// A connection from `client` to the machine `server`, not established yet. `own_port` is that
  /// of the client; 0: any.
  std::shared_ptr<Connection> make_connection(Machine& client, Machine& server, const Address& peer,
                                              std::uint16_t own_port = 0);
  /// One within `machine` that goes through no network.
  std::shared_ptr<Connection> make_local_connection(Machine& machine, const std::string& place);

  /// `machine` goes down: its connections end, and their peers are told, or not.
  void crash(const Machine& machine, bool silent);

  [[nodiscard]] LinkTable& links() noexcept { return links_; }
  [[nodiscard]] DatagramNetwork& datagrams() noexcept { return datagrams_; }
  [[nodiscard]] NameTable& names() noexcept { return names_; }

  /// Room for bytes that no reader has asked for yet; good until it is asked for again.
  [[nodiscard]] std::span<std::byte> spare() noexcept { return spare_; }

 private:
  /// The machine's number and the port.
  using Place = std::pair<std::uint32_t, std::uint16_t>;
  struct Bound {
    Address address;
    BoundVersions versions;
    Listening* listening;  // Null: nobody does.
  };

  [[nodiscard]] LinkState& between(Machine& from, Machine& to) override {
    return links_.between(from, to);
  }
  void isolate(const Machine& machine, Duration time) override;
  void reopened(LinkState& link, Instant when) override;
  void worsened(LinkState& link) override;

  std::uint16_t free_port(const Machine& machine);
  [[nodiscard]] static bool gets(const Bound& bound, IpVersion version) noexcept;
  /// Whether they cannot be bound at one port of one machine.
  [[nodiscard]] static bool conflict(const Bound& a, const Bound& b) noexcept;
  /// What is bound at an address. REQUIRES: there is something.
  [[nodiscard]] Bound& bound_at(const Machine& machine, const Address& address) noexcept;
  void forget_connections() noexcept;
  /// Calls `visit` with each connection and each of its sides that is on `machine`.
  template <class F>
  void for_each_end(const Machine& machine, F visit);
  /// Calls `visit` with each connection and side that `link` leads away from.
  template <class F>
  void for_each_sender(const LinkState& link, F visit);

  using LocalPlace = std::pair<std::uint32_t, std::string>;  // The machine's address and the path.
  NameTable names_;
  std::map<Place, std::vector<Bound>> bound_;
  std::map<LocalPlace, Listening*> local_listeners_;
  std::map<std::uint32_t, const LocalNames*> local_names_;  // By the machine's address.
  std::vector<std::byte> spare_ = std::vector<std::byte>(Pipe::kWindow);
  FreePorts free_ports_;
  std::map<LocalPlace, std::uint64_t> local_connections_;  // So far.
  Connection::List connections_;                           // In the order of their making.
  LinkTable links_{*this};
  DatagramNetwork datagrams_{links_};
};

}  // namespace fermata::sim::detail
