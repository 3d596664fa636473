// SPDX-License-Identifier: Apache-2.0
#pragma once

// UDP in a simulated network: what fermata/reactor asks of a backend.
//
// Buffer  What has arrived and nobody reads waits in a buffer as large as that of Linux; what does
//         not fit is lost, as on the way.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>

#include "fermata/reactor/datagrams.hpp"
#include "fermata/sim/machine/member_happening.hpp"
#include "fermata/sim/net/datagram_network.hpp"

namespace fermata::sim::detail {

class Machine;
class Network;

class SimDatagrams final : public backend::Datagrams {
 public:
  SimDatagrams(fermata::detail::Attachment& attachment, Machine& machine, Network& network)
      : backend::Datagrams(attachment), machine_(machine), network_(network) {}

 private:
  Ref<backend::DatagramHandle> open(const Address& address,
                                    const DatagramOptions& options) override;

  Machine& machine_;
  Network& network_;
};

class SimDatagramSocket final : public backend::DatagramHandle, public PacketReceiver {
 public:
  /// The size of the buffer of each direction, unless it is set.
  static constexpr int kBuffer = 212'992;
  /// Bytes of the buffer that each datagram takes besides its own.
  static constexpr std::size_t kOverhead = 768;

  /// Throws InputOutputError.
  SimDatagramSocket(fermata::detail::Attachment& attachment, Machine& machine, Network& network,
                    const Address& address, const DatagramOptions& options);

  [[nodiscard]] Address local_address() const override { return address_; }

  bool arrived(const PacketRef& packet) override;

 private:
  struct Received {
    PacketRef packet;
    MessageLog::Id noted;  // 0: nobody is told.
  };

  int start_receiving() override;
  void stop_receiving() noexcept override { receiving_ = false; }
  int send_now(std::span<const std::byte> data, const Address& peer) override;
  int submit_send(std::span<const std::byte> data, const Address& peer) override;
  int set_membership(const Address& group, bool member) override;
  int apply_option(SocketOption option, int value) override;
  int read_option(SocketOption option, int& value) const override;
  void close_backend() noexcept override;

  void expect_hand_over();
  void hand_over();
  void send_submitted();
  void transmit(std::span<const std::byte> data, Address peer);
  /// Why the system would not send to `peer`; 0 when it would.
  [[nodiscard]] int refusal(const Address& peer) const;
  [[nodiscard]] bool sends_by_loopback(const Address& peer) const;
  [[nodiscard]] bool would_block();

  Machine& machine_;
  Network& network_;
  DatagramOptions options_;
  Address address_;
  std::uint64_t key_;
  std::deque<Received> buffer_;
  std::size_t buffered_ = 0;  // Bytes of the receive buffer that are taken.
  int receive_buffer_ = kBuffer;
  int send_buffer_ = kBuffer;
  std::span<const std::byte> submitted_;
  Address submitted_to_;
  MemberHappening<SimDatagramSocket> hand_over_;
  MemberHappening<SimDatagramSocket> room_;
  MemberHappening<SimDatagramSocket> acknowledgement_;
  bool receiving_ = false;
};

}  // namespace fermata::sim::detail
