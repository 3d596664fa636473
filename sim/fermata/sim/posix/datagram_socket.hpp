// SPDX-License-Identifier: Apache-2.0
#pragma once

// A UDP socket of foreign code. One that is connected is told when nobody receives what it sends.

#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "fermata/sim/net/datagram_end.hpp"
#include "fermata/sim/posix/socket.hpp"

namespace fermata::sim::detail {

class DatagramSocket final : public Socket, public DatagramUser {
 public:
  /// `domain` is AF_INET or AF_INET6.
  DatagramSocket(Machine& machine, Network& network, std::uint64_t serial, int domain);
  ~DatagramSocket() override;

  [[nodiscard]] std::string state() override;
  [[nodiscard]] std::string maker() override { return "a sender"; }
  [[nodiscard]] Readiness readiness() override;
  [[nodiscard]] int readable_bytes() override;
  [[nodiscard]] bool keeps_boundaries() const noexcept override { return true; }

  [[nodiscard]] int bind(const sockaddr* address, socklen_t size) override;
  [[nodiscard]] int connect(const sockaddr* address, socklen_t size) override;
  [[nodiscard]] int name(bool own, sockaddr* address, socklen_t* size) override;
  [[nodiscard]] int shut_down(int how) override;
  [[nodiscard]] int take_error() override { return std::exchange(error_, 0); }
  [[nodiscard]] ssize_t receive(msghdr& message, int flags,
                                std::shared_ptr<Rights>& rights) override;
  [[nodiscard]] ssize_t send(const msghdr& message, int flags,
                             std::shared_ptr<Rights>& rights) override;

  void datagram_came() override { changed(EPOLLIN); }
  void datagram_refused() override;

 private:
  [[nodiscard]] int refuse_option(int level, int name) const override;
  [[nodiscard]] std::optional<int> carry_out_option(int level, int name, const void* value,
                                                    socklen_t size) override;
  void options_changed() override;
  /// Joins a group, or leaves it, as IP_ADD_MEMBERSHIP says: an errno value.
  [[nodiscard]] int set_membership(bool joins, const void* request, socklen_t size);
  [[nodiscard]] DatagramOptions sending_options() const;
  [[nodiscard]] IpVersion version() const noexcept {
    return options_.domain() == AF_INET6 ? IpVersion::V6 : IpVersion::V4;
  }
  /// Returns an errno value.
  [[nodiscard]] int bind_at(const Address& address);
  [[nodiscard]] int bind_somewhere();
  void disconnect();
  /// What waits and came first; null when nothing does.
  [[nodiscard]] const DatagramEnd::Received* first() const noexcept;
  /// Takes the first. REQUIRES: there is one.
  [[nodiscard]] DatagramEnd::Received take();

  Network& network_;
  std::unique_ptr<DatagramEnd> end_;     // Null until it is bound.
  Address unbound_ = Address::v4(0, 0);  // Without a port: what it is bound to when it needs one.
  bool port_was_chosen_ = false;
  std::deque<DatagramEnd::Received> left_;  // What came to a port that was given up.
  std::optional<Address> peer_;
  struct Membership {
    Address group;
    bool by_loopback;
    friend bool operator==(const Membership&, const Membership&) = default;
  };
  std::vector<Membership> memberships_;
  Shut shut_;
  int error_ = 0;  // That waits: a datagram which was sent has been refused.
};

}  // namespace fermata::sim::detail
