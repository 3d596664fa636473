// SPDX-License-Identifier: Apache-2.0
#pragma once

// A stream socket of foreign code that stays within its machine: AF_UNIX, by path or as a pair.
//
// Shutdown  Each end is shut for reading and for writing by itself and by the other end, as on
//           Linux: who closes shuts both of the other one.
// Faults    short-read, short-write.

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "fermata/sim/net/stream_end.hpp"
#include "fermata/sim/posix/socket.hpp"
#include "fermata/sim/posix/unix_names.hpp"

namespace fermata::sim::detail {

class UnixSocket final : public Socket, public StreamUser, public Listening {
 public:
  UnixSocket(Machine& machine, Network& network, UnixNames& names, std::uint64_t serial);
  /// The end `side` of a connection that is established.
  UnixSocket(Machine& machine, Network& network, UnixNames& names, std::uint64_t serial,
             std::shared_ptr<Connection> connection, Connection::Side side);
  ~UnixSocket() override;
  /// Two that are connected with each other.
  [[nodiscard]] static std::array<std::shared_ptr<Socket>, 2> make_pair(
      Machine& machine, Network& network, UnixNames& names,
      const std::array<std::uint64_t, 2>& serials);
  /// Whether it listens, and has not been shut.
  [[nodiscard]] bool takes_connections() const noexcept {
    return is_listening() && !own_shut_.reading;
  }

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
  [[nodiscard]] bool carries_rights() const noexcept override { return true; }

  void connected_end(int) override {}
  void input_came() override;
  void room_came() override { changed(); }

 private:
  enum class Stage : std::uint8_t { Fresh, Listening, Connected };

  void watched(bool value) noexcept override;
  [[nodiscard]] bool is_listening() const noexcept override { return stage_ == Stage::Listening; }
  bool arrived(const std::shared_ptr<Connection>& connection) override;

  void hold(std::shared_ptr<Connection> connection, Connection::Side side);
  [[nodiscard]] Connection::End& here() const noexcept {
    return end_->connection().end(end_->side());
  }
  [[nodiscard]] Connection::End& there() const noexcept {
    return end_->connection().end(Connection::other(end_->side()));
  }
  /// Its own listener, or one of Fermata's; null with an errno value in `code`.
  [[nodiscard]] Listening* listener_at(const std::string& path, int& code) const;
  /// By either end.
  [[nodiscard]] Shut shut() const;
  struct Luggage;
  /// The descriptors that are under way to this end.
  [[nodiscard]] static Luggage& luggage_of(Connection::End& end);
  /// How many of `whole` bytes one call receives: no more than those of the next message with
  /// descriptors.
  [[nodiscard]] std::size_t up_to_rights(std::size_t whole) const;
  /// What comes with the first `bytes`, which are taken unless it `peeks`.
  [[nodiscard]] std::shared_ptr<Rights> rights_within(std::size_t bytes, bool peeks);
  /// Whether the other end has gone without reading all, and nobody was told.
  [[nodiscard]] bool has_error() const;

  Network& network_;
  UnixNames& names_;
  Stage stage_ = Stage::Fresh;
  Shut own_shut_;
  std::unique_ptr<StreamEnd> end_;
  std::string path_;        // It is bound to it; empty when it is not bound.
  bool owns_path_ = false;  // And nobody else is; false for what was accepted.
  UnixNames::Name name_;    // The file, unless it is an abstract name.
  std::deque<std::shared_ptr<Connection>> queue_;
  std::size_t backlog_ = 0;
  std::uint64_t sent_ = 0;      // Bytes, by this end.
  std::uint64_t received_ = 0;  // Likewise.
  bool told_break_ = false;
  bool is_watched_ = false;
};

}  // namespace fermata::sim::detail
