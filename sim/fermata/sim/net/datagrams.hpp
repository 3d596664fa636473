// SPDX-License-Identifier: Apache-2.0
#pragma once

// UDP in a simulated network: what fermata/reactor asks of a backend.

#include <cstddef>
#include <span>

#include "fermata/reactor/datagrams.hpp"
#include "fermata/sim/machine/member_happening.hpp"
#include "fermata/sim/net/datagram_end.hpp"

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

class SimDatagramSocket final : public backend::DatagramHandle, private DatagramUser {
 public:
  /// Throws InputOutputError.
  SimDatagramSocket(fermata::detail::Attachment& attachment, Machine& machine, Network& network,
                    const Address& address, const DatagramOptions& options);

  [[nodiscard]] Address local_address() const override { return end_.address(); }

 private:
  void datagram_came() override { expect_hand_over(); }

  int start_receiving() override;
  void stop_receiving() noexcept override { receiving_ = false; }
  int send_now(std::span<const std::byte> data, const Address& peer) override;
  int submit_send(std::span<const std::byte> data, const Address& peer) override;
  int set_membership(const Address& group, bool member) override {
    return end_.set_membership(group, member);
  }
  int apply_option(backend::SocketOption option, int value) override {
    return end_.set_option(option, value);
  }
  int read_option(backend::SocketOption option, int& value) const override {
    return end_.option(option, value);
  }
  void close_backend() noexcept override;

  void expect_hand_over();
  void hand_over();
  void send_submitted();

  DatagramEnd end_;
  Network& network_;
  std::span<const std::byte> submitted_;
  Address submitted_to_;
  MemberHappening<SimDatagramSocket, &SimDatagramSocket::hand_over> hand_over_;
  MemberHappening<SimDatagramSocket, &SimDatagramSocket::send_submitted> room_;
  MemberHappening<SimDatagramSocket, &SimDatagramSocket::close_acknowledged> acknowledgement_;
  bool receiving_ = false;
};

}  // namespace fermata::sim::detail
