// SPDX-License-Identifier: Apache-2.0
#pragma once

// A TCP socket of foreign code.
//
// Stages   Fresh, perhaps bound; then a listener, or the end of a connection.
// Faults   Those of every end of a connection: short-read, short-write, reset, refused, hung, ...

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "fermata/sim/net/stream_end.hpp"
#include "fermata/sim/posix/socket.hpp"

namespace fermata::sim::detail {

class StreamSocket final : public Socket, public StreamUser, private Listening {
 public:
  /// `domain` is AF_INET or AF_INET6.
  StreamSocket(Machine& machine, Network& network, std::uint64_t serial, int domain);
  /// The end `side` of a connection that is established.
  StreamSocket(Machine& machine, Network& network, std::uint64_t serial, int domain,
               std::shared_ptr<Connection> connection, Connection::Side side);
  ~StreamSocket() override;

  [[nodiscard]] std::string state() override;
  [[nodiscard]] std::string maker() override;
  [[nodiscard]] Readiness readiness() override;
  [[nodiscard]] int readable_bytes() override;

  [[nodiscard]] int bind(const sockaddr* address, socklen_t size) override;
  [[nodiscard]] int listen(int backlog) override;
  [[nodiscard]] std::shared_ptr<Socket> accept(std::uint64_t serial, int& code) override;
  [[nodiscard]] int connect(const sockaddr* address, socklen_t size) override;
  [[nodiscard]] int name(bool own, sockaddr* address, socklen_t* size) override;
  [[nodiscard]] int shut_down(int how) override;
  [[nodiscard]] int take_error() override;
  [[nodiscard]] ssize_t receive(msghdr& message, int flags,
                                std::shared_ptr<Rights>& rights) override;
  [[nodiscard]] ssize_t send(const msghdr& message, int flags,
                             std::shared_ptr<Rights>& rights) override;

  void connected_end(int code) override;
  void input_came() override;
  void room_came() override { changed(); }

 private:
  enum class Stage : std::uint8_t { Fresh, Listening, Connecting, Connected, Failed };

  void watched(bool value) noexcept override;
  void options_changed() override;
  /// What the options say of a peer that is silent.
  [[nodiscard]] Patience patience() const noexcept;
  [[nodiscard]] bool is_listening() const noexcept override { return stage_ == Stage::Listening; }
  bool arrived(const std::shared_ptr<Connection>& connection) override;

  [[nodiscard]] IpVersion version() const noexcept {
    return options_.domain() == AF_INET6 ? IpVersion::V6 : IpVersion::V4;
  }
  [[nodiscard]] BoundVersions bound_versions() const noexcept;
  /// Binds it where the system chooses unless it is bound. Returns an errno value.
  [[nodiscard]] int bind_somewhere();
  [[nodiscard]] int bind_at(const Address& address);
  /// Gives up what it was bound to while it was connected, if the system has chosen the port.
  void let_go_of_port();
  [[nodiscard]] int connect_to(const Address& peer);
  void hold(std::shared_ptr<Connection> connection, Connection::Side side);
  void take_in();
  void let_go_of_name() noexcept;
  void stop_listening();
  /// Breaks the connections that nobody has accepted.
  void refuse_queue();
  /// It is as if it had never connected, nor listened.
  void disconnect();
  /// REQUIRES: it has connected, or tried to.
  void leave_connection();
  [[nodiscard]] Address any_address() const noexcept {
    return version() == IpVersion::V6 ? Address::v6({}, 0) : Address::v4(0, 0);
  }
  /// The connection was established, and is no more.
  [[nodiscard]] bool is_over();
  /// By either end.
  [[nodiscard]] Shut shut();
  [[nodiscard]] bool has_error();
  /// Takes what has arrived. REQUIRES: something has.
  [[nodiscard]] ssize_t take(std::span<const iovec> target, int flags);
  /// The error of a connection that has broken, once; 0 without one.
  [[nodiscard]] int take_break();

  Network& network_;
  Stage stage_ = Stage::Fresh;
  std::unique_ptr<StreamEnd> end_;
  std::optional<Address> bound_;
  std::optional<Address> shown_;  // What it was bound to.
  bool port_was_chosen_ = false;
  bool keeps_address_ = false;     // It was bound to one, or its listener was.
  bool broke_before_end_ = false;  // Data came that it refused; the end of the input came later.
  std::deque<std::shared_ptr<Connection>> queue_;
  std::size_t backlog_ = 0;
  int error_ = 0;  // Of a connect.
  bool told_connected_ = false;
  bool spent_ = false;  // It was shut down when its connection had failed: it never connects again.
  bool told_break_ = false;
  Shut own_shut_;
  bool is_watched_ = false;
};

}  // namespace fermata::sim::detail
