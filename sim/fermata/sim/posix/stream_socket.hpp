// SPDX-License-Identifier: Apache-2.0
#pragma once

// A stream socket of foreign code: TCP in the simulated network, or a Unix socket.
//
// Stages   Fresh, perhaps bound; then a listener, or the end of a connection.
// Faults   Those of every end of a connection: short-read, short-write, reset, refused, hung, ...

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "fermata/sim/net/stream_end.hpp"
#include "fermata/sim/posix/socket.hpp"
#include "fermata/sim/posix/socket_options.hpp"

namespace fermata::sim::detail {

class StreamSocket final : public Socket, public StreamUser, private Listening {
 public:
  /// `domain` is AF_INET, AF_INET6 or AF_UNIX.
  StreamSocket(Machine& machine, Network& network, std::uint64_t serial, int domain);
  /// The end `side` of a connection that is established, with the options of its listener.
  StreamSocket(Machine& machine, Network& network, std::uint64_t serial,
               const SocketOptions& options, std::shared_ptr<Connection> connection,
               Connection::Side side);
  ~StreamSocket() override;
  /// Two Unix sockets that are connected with each other.
  [[nodiscard]] static std::array<std::shared_ptr<Socket>, 2> make_pair(
      Machine& machine, Network& network, const std::array<std::uint64_t, 2>& serials);

  [[nodiscard]] std::string state() override;
  [[nodiscard]] std::string maker() override;
  [[nodiscard]] Readiness readiness() override;
  [[nodiscard]] std::optional<int> readable_bytes() override;
  [[nodiscard]] std::optional<Duration> read_limit() const override {
    return options_.receive_limit();
  }
  [[nodiscard]] std::optional<Duration> write_limit() const override {
    return options_.send_limit();
  }

  [[nodiscard]] int bind(const sockaddr* address, socklen_t size) override;
  [[nodiscard]] int listen(int backlog) override;
  [[nodiscard]] std::shared_ptr<Socket> accept(std::uint64_t serial, int& code) override;
  [[nodiscard]] int connect(const sockaddr* address, socklen_t size) override;
  [[nodiscard]] int name(bool own, sockaddr* address, socklen_t* size) override;
  [[nodiscard]] int option(int level, int name, void* value, socklen_t* size) override;
  [[nodiscard]] int set_option(int level, int name, const void* value, socklen_t size) override;
  [[nodiscard]] int shut_down(int how) override;
  [[nodiscard]] int take_error() override;
  [[nodiscard]] ssize_t receive(msghdr& message, int flags) override;
  [[nodiscard]] ssize_t send(const msghdr& message, int flags) override;

  void connected_end(int code) override;
  void input_came() override;
  void room_came() override { changed(); }

 private:
  enum class Stage : std::uint8_t { Fresh, Listening, Connecting, Connected, Failed };

  void watched(bool value) noexcept override;
  bool arrived(const std::shared_ptr<Connection>& connection) override;

  [[nodiscard]] bool is_unix() const noexcept { return options_.domain() == AF_UNIX; }
  [[nodiscard]] IpVersion version() const noexcept {
    return options_.domain() == AF_INET6 ? IpVersion::V6 : IpVersion::V4;
  }
  [[nodiscard]] BoundVersions bound_versions() const noexcept;
  /// Binds it where the system chooses unless it is bound. Returns an errno value.
  [[nodiscard]] int bind_somewhere();
  [[nodiscard]] int connect_to(const Address& peer);
  [[nodiscard]] int connect_to_path(const std::string& path);
  void hold(std::shared_ptr<Connection> connection, Connection::Side side);
  void let_go_of_name() noexcept;
  /// Ends what it is connected to, and forgets it.
  [[nodiscard]] int disconnect();
  [[nodiscard]] std::string peer_path() const;
  /// The error of a connection that has broken, once; 0 without one.
  [[nodiscard]] int take_break();
  void apply_options();

  Network& network_;
  SocketOptions options_;
  Stage stage_ = Stage::Fresh;
  std::unique_ptr<StreamEnd> end_;
  std::optional<Address> bound_;  // Of IP.
  std::string path_;              // Of a Unix socket; empty when it is not bound.
  std::deque<std::shared_ptr<Connection>> queue_;
  std::size_t backlog_ = 0;
  int error_ = 0;  // Of a connect.
  bool told_connected_ = false;
  bool told_break_ = false;
  bool shut_reading_ = false;
  bool shut_writing_ = false;
  bool is_watched_ = false;
  bool is_pair_ = false;
};

}  // namespace fermata::sim::detail
