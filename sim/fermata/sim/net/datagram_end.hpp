// SPDX-License-Identifier: Apache-2.0
#pragma once

// A bound socket of UDP, whoever holds it: what has arrived there, and how it sends. A datagram
// handle of fermata/reactor holds one, and so does a socket of foreign code.
//
// Buffer  What has arrived and nobody reads waits in a buffer as large as that of Linux; what does
//         not fit is lost, as on the way.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>

#include "fermata/base/assert.hpp"
#include "fermata/reactor/datagrams.hpp"
#include "fermata/sim/net/datagram_network.hpp"
#include "fermata/sim/record/run_log.hpp"

namespace fermata::sim::detail {

class Machine;
class Network;

/// Who holds a socket of UDP.
class DatagramUser {
 public:
  /// One more datagram waits.
  virtual void datagram_came() = 0;
  /// Nobody receives what was sent to where it receives from only.
  virtual void datagram_refused() {}

 protected:
  ~DatagramUser() = default;
};

class DatagramEnd final : private PacketReceiver {
 public:
  /// The size of the buffer of each direction, unless it is set.
  static constexpr int kBuffer = 212'992;
  /// Bytes of the buffer that each datagram takes besides its own.
  static constexpr std::size_t kOverhead = 768;

  struct Received {
    PacketRef packet;
    MessageLog::Id noted;  // 0: nobody is told.
  };

  /// Binds it; `only_v6`: at :: it neither sends nor gets datagrams of version 4. `user` must
  /// outlive it. Throws InputOutputError.
  DatagramEnd(DatagramUser& user, Machine& machine, Network& network, const Address& address,
              const DatagramOptions& options, bool only_v6 = false);

  [[nodiscard]] Machine& machine() const noexcept { return machine_; }
  [[nodiscard]] const Address& address() const noexcept { return address_; }
  /// Names it in the keys of draws.
  [[nodiscard]] std::uint64_t key() const noexcept { return key_; }

  /// What waits, in the order of arrival.
  [[nodiscard]] const std::deque<Received>& waiting() const noexcept { return buffer_; }
  /// Takes the first. REQUIRES: there is one.
  [[nodiscard]] Received take();
  /// From now on it receives from there only; from anywhere without one.
  void receive_only_from(const std::optional<Address>& peer) noexcept { only_from_ = peer; }

  /// Why the system would not send to `peer`, an errno value; 0 when it would.
  [[nodiscard]] int refusal(const Address& peer) const;
  /// Whether a datagram has to wait for room: a draw.
  [[nodiscard]] bool would_block();
  void transmit(std::span<const std::byte> data, Address peer);

  /// All return an errno value.
  int set_membership(const Address& group, bool member);
  int set_membership(const Address& group, bool member, bool by_loopback);
  int set_option(backend::SocketOption option, int value);
  int option(backend::SocketOption option, int& value) const;
  /// Its address stays as it is.
  void set_options(const DatagramOptions& options) noexcept {
    FERMATA_ASSERT(options.multicast_ttl >= 0 && options.multicast_ttl <= 255);
    options_ = options;
  }
  /// Whether its user is told of every refusal, or only of those of the peer that it receives from.
  void tell_all_refusals(bool value) noexcept { tells_all_refusals_ = value; }
  /// Gives up its address, and what waits.
  void close() noexcept;

 private:
  bool arrived(const PacketRef& packet) override;
  [[nodiscard]] bool takes_from(const Address& source) const noexcept override {
    return !only_from_ || source == only_from_->unmapped();
  }
  [[nodiscard]] bool sends_by_loopback(const Address& peer) const;

  DatagramUser& user_;
  Machine& machine_;
  Network& network_;
  DatagramOptions options_;
  bool only_v6_;
  Address address_;
  std::uint64_t key_;
  std::optional<Address> only_from_;
  bool tells_all_refusals_ = false;
  std::deque<Received> buffer_;
  std::size_t buffered_ = 0;  // Bytes of the receive buffer that are taken.
  int receive_buffer_ = kBuffer;
  int send_buffer_ = kBuffer;
};

}  // namespace fermata::sim::detail
