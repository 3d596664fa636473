// SPDX-License-Identifier: Apache-2.0
#pragma once

// A UDP socket of foreign code.
//
// Not modelled  Messages of ICMP: what is sent to a port where nobody receives is lost, and the
//               sender is not told, also by a connected socket.

#include <memory>
#include <optional>

#include "fermata/sim/net/datagram_end.hpp"
#include "fermata/sim/posix/socket.hpp"
#include "fermata/sim/posix/socket_options.hpp"

namespace fermata::sim::detail {

class DatagramSocket final : public Socket, public DatagramUser {
 public:
  /// `domain` is AF_INET or AF_INET6.
  DatagramSocket(Machine& machine, Network& network, std::uint64_t serial, int domain);
  ~DatagramSocket() override;

  [[nodiscard]] std::string state() override;
  [[nodiscard]] std::string maker() override { return "a sender"; }
  [[nodiscard]] Readiness readiness() override;
  [[nodiscard]] std::optional<int> readable_bytes() override;
  [[nodiscard]] std::optional<Duration> read_limit() const override {
    return options_.receive_limit();
  }
  [[nodiscard]] std::optional<Duration> write_limit() const override {
    return options_.send_limit();
  }
  [[nodiscard]] bool keeps_boundaries() const noexcept override { return true; }

  [[nodiscard]] int bind(const sockaddr* address, socklen_t size) override;
  [[nodiscard]] int connect(const sockaddr* address, socklen_t size) override;
  [[nodiscard]] int name(bool own, sockaddr* address, socklen_t* size) override;
  [[nodiscard]] int option(int level, int name, void* value, socklen_t* size) override;
  [[nodiscard]] int set_option(int level, int name, const void* value, socklen_t size) override;
  [[nodiscard]] int shut_down(int how) override;
  [[nodiscard]] int take_error() override { return 0; }
  [[nodiscard]] ssize_t receive(msghdr& message, int flags) override;
  [[nodiscard]] ssize_t send(const msghdr& message, int flags) override;

  void datagram_came() override { changed(); }

 private:
  [[nodiscard]] IpVersion version() const noexcept {
    return options_.domain() == AF_INET6 ? IpVersion::V6 : IpVersion::V4;
  }
  /// Returns an errno value.
  [[nodiscard]] int bind_at(const Address& address);
  [[nodiscard]] int bind_somewhere();

  Network& network_;
  SocketOptions options_;
  std::unique_ptr<DatagramEnd> end_;  // Null until it is bound.
  std::optional<Address> peer_;
};

}  // namespace fermata::sim::detail
