// SPDX-License-Identifier: Apache-2.0
#pragma once

// A Unix socket of foreign code that sends datagrams: AF_UNIX, SOCK_DGRAM. Nothing is lost, and
// everything arrives at once and in order. Who sends to a full queue waits.

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fermata/sim/posix/socket.hpp"
#include "fermata/sim/posix/unix_names.hpp"

namespace fermata::sim::detail {

class Network;
class UnixDatagramSocket;

/// The ones with abstract names, by these.
using UnixDatagramSockets = std::map<std::string, UnixDatagramSocket*>;

class UnixDatagramSocket final : public Socket {
 public:
  /// `names` and `bound` must outlive it.
  UnixDatagramSocket(Machine& machine, Network& network, UnixNames& names,
                     UnixDatagramSockets& bound, std::uint64_t serial);
  ~UnixDatagramSocket() override;
  /// They send to each other.
  static void join(UnixDatagramSocket& first, UnixDatagramSocket& second);

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
  [[nodiscard]] bool carries_rights() const noexcept override { return true; }

 private:
  struct Letter {
    std::vector<std::byte> bytes;
    std::string from;  // The path of the sender; empty when it has none.
    std::shared_ptr<Rights> rights;
  };

  /// The socket at `path` that this may send to; null with an errno value in `code`.
  [[nodiscard]] UnixDatagramSocket* receiver_at(const std::string& path, int& code) const;
  /// Whether it takes what this sends: it is connected with nobody else.
  [[nodiscard]] bool hears(const UnixDatagramSocket& sender) const noexcept;
  [[nodiscard]] bool is_full() const noexcept;
  /// Sends to `path`, or without one to where it is connected. Returns an errno value.
  [[nodiscard]] int deliver(Letter&& letter, const std::optional<std::string>& path);
  void disconnect();
  /// Tells those that are connected to it that their room, or their peer, has changed.
  void tell_senders();

  /// The socket that is bound to `path`; null with an errno value in `code`.
  [[nodiscard]] UnixDatagramSocket* socket_at(const std::string& path, int& code) const;

  Network& network_;
  UnixNames& names_;
  UnixDatagramSockets& bound_;
  Shut shut_;
  std::string path_;      // Empty when it is not bound.
  UnixNames::Name name_;  // The file, unless it is an abstract name.
  std::deque<Letter> queue_;
  UnixDatagramSocket* peer_ = nullptr;        // Where it is connected to.
  std::optional<std::string> gone_;           // The path of its peer, which has closed.
  std::vector<UnixDatagramSocket*> senders_;  // That are connected to this one.
  int error_ = 0;
};

}  // namespace fermata::sim::detail
