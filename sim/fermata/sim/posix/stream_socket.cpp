// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/stream_socket.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/machine/machine.hpp"
#include "fermata/sim/net/host_address.hpp"
#include "fermata/sim/posix/socket_address.hpp"

namespace fermata::sim::detail {

namespace {

constexpr std::size_t kMostBacklog = 4096;
constexpr int kProtocol = IPPROTO_TCP;
constexpr const char* kPair = "socket pair";

const char* kind_of(int domain) noexcept {
  return domain == AF_UNIX ? "Unix socket" : "TCP socket";
}

/// Calls `bind`, and returns the code of its error, or 0.
template <class Bind>
int code_of(const Bind& bind) {
  try {
    bind();
    return 0;
  } catch (const InputOutputError& error) {
    return error.code();
  }
}

}  // namespace

StreamSocket::StreamSocket(Machine& machine, Network& network, std::uint64_t serial, int domain)
    : Socket(machine, kind_of(domain), serial),
      network_(network),
      options_(domain, SOCK_STREAM, domain == AF_UNIX ? 0 : kProtocol) {
  status = O_RDWR;
}

StreamSocket::StreamSocket(Machine& machine, Network& network, std::uint64_t serial,
                           const SocketOptions& options, std::shared_ptr<Connection> connection,
                           Connection::Side side)
    : StreamSocket(machine, network, serial, options.domain()) {
  options_ = options;
  is_pair_ = connection->place() == kPair;
  hold(std::move(connection), side);
  stage_ = Stage::Connected;
  told_connected_ = true;
}

StreamSocket::~StreamSocket() {
  let_go_of_name();
  for (const auto& connection : queue_) {
    connection->send_reset(Connection::Server);
    connection->close(Connection::Server);
  }
  if (end_ != nullptr) end_->close();
}

void StreamSocket::let_go_of_name() noexcept {
  if (bound_) network_.unbind(machine(), *std::exchange(bound_, std::nullopt));
  if (!path_.empty()) network_.unbind(machine(), backend::PipePath(std::exchange(path_, {})));
}

std::string StreamSocket::state() {
  if (stage_ == Stage::Fresh) return "not connected";
  if (stage_ == Stage::Failed) return "its connect has failed";
  if (stage_ == Stage::Listening) return fmt::format("{} connections wait", queue_.size());
  const std::string text = end_->connection().text();
  return stage_ == Stage::Connecting ? "it connects, " + text : text;
}

std::string StreamSocket::maker() {
  if (stage_ == Stage::Listening) return "a client";
  return end_ == nullptr || is_unix() ? "its other end"
                                      : "the peer, " + end_->peer_address().text();
}

// --- names ---

int StreamSocket::bind(const sockaddr* address, socklen_t size) {
  if (bound_ || !path_.empty() || stage_ != Stage::Fresh) return -EINVAL;
  int code = 0;
  if (is_unix()) {
    const std::optional<std::string> path = unix_path(address, size, code);
    if (!path) return -code;
    if (path->empty()) return -EOPNOTSUPP;  // A name that the system chooses.
    const backend::PipePath place(*path);
    code = code_of([&] { network_.bind(machine(), place, nullptr); });
    if (code == 0) path_ = *path;
    return -code;
  }
  const std::optional<Address> wanted = ip_address(options_.domain(), address, size, code);
  if (!wanted) return -code;
  return -code_of([&] { bound_ = network_.bind(machine(), *wanted, nullptr, bound_versions()); });
}

BoundVersions StreamSocket::bound_versions() const noexcept {
  const bool only_v6 = options_.number(IPPROTO_IPV6, IPV6_V6ONLY) != 0;
  return only_v6 ? BoundVersions::OnlyV6 : BoundVersions::AsTheAddress;
}

int StreamSocket::bind_somewhere() {
  if (bound_) return 0;
  const Address any = version() == IpVersion::V6 ? Address::v6({}, 0) : Address::v4(0, 0);
  return code_of([&] { bound_ = network_.bind(machine(), any, nullptr, bound_versions()); });
}

int StreamSocket::name(bool own, sockaddr* address, socklen_t* size) {
  if (!own && stage_ != Stage::Connected) return -ENOTCONN;
  if (is_unix()) {
    spell_unix(own || end_ == nullptr ? path_ : peer_path(), address, size);
    return 0;
  }
  Address value = version() == IpVersion::V6 ? Address::v6({}, 0) : Address::v4(0, 0);
  if (end_ != nullptr) {
    value = seen_by(version(), own ? end_->address() : end_->peer_address());
  } else if (bound_) {
    value = *bound_;
  }
  spell(value, address, size);
  return 0;
}

// What connects to a path has no name of its own, unless it was bound.
std::string StreamSocket::peer_path() const {
  const bool is_named = end_->side() == Connection::Client && !is_pair_;
  return is_named ? end_->connection().place() : std::string();
}

// --- a listener ---

int StreamSocket::listen(int backlog) {
  if (stage_ != Stage::Fresh && stage_ != Stage::Listening) return -EINVAL;
  if (is_unix() && path_.empty()) return -EINVAL;
  if (!is_unix()) {
    if (const int code = bind_somewhere()) return -code;
  }
  backlog_ =
      std::clamp<std::size_t>(static_cast<std::size_t>(std::max(backlog, 0)), 1, kMostBacklog);
  if (std::exchange(stage_, Stage::Listening) == Stage::Listening) return 0;
  if (is_unix()) {
    network_.listen(machine(), backend::PipePath(path_), *this);
  } else {
    network_.listen(machine(), *bound_, *this);
  }
  changed();
  return 0;
}

bool StreamSocket::arrived(const std::shared_ptr<Connection>& connection) {
  if (queue_.size() >= backlog_) return false;
  queue_.push_back(connection);
  changed();
  return true;
}

std::shared_ptr<Socket> StreamSocket::accept(std::uint64_t serial, int& code) {
  code = -EINVAL;
  if (stage_ != Stage::Listening) return nullptr;
  code = -EAGAIN;
  if (queue_.empty()) return nullptr;
  code = 0;
  std::shared_ptr<Connection> connection = std::move(queue_.front());
  queue_.pop_front();
  const Arrival arrival = connection->accepted();
  return std::make_shared<StreamSocket>(machine(), network_, serial, options_,
                                        std::move(connection), Connection::Server);
}

std::array<std::shared_ptr<Socket>, 2> StreamSocket::make_pair(
    Machine& machine, Network& network, const std::array<std::uint64_t, 2>& serials) {
  const auto connection = network.make_local_connection(machine, kPair);
  const SocketOptions options(AF_UNIX, SOCK_STREAM, 0);
  return {std::make_shared<StreamSocket>(machine, network, serials[0], options, connection,
                                         Connection::Client),
          std::make_shared<StreamSocket>(machine, network, serials[1], options, connection,
                                         Connection::Server)};
}

// --- connecting ---

void StreamSocket::hold(std::shared_ptr<Connection> connection, Connection::Side side) {
  FERMATA_ASSERT(end_ == nullptr);
  end_ = std::make_unique<StreamEnd>(*this, network_, std::move(connection), side);
  apply_options();
  if (is_watched_) watched(true);
}

int StreamSocket::disconnect() {
  if (stage_ == Stage::Listening) return -EISCONN;
  if (end_ != nullptr) end_->close();
  end_ = nullptr;
  stage_ = Stage::Fresh;
  error_ = 0;
  told_break_ = false;
  shut_reading_ = false;
  shut_writing_ = false;
  changed();
  return 0;
}

int StreamSocket::connect(const sockaddr* address, socklen_t size) {
  const bool is_named = address != nullptr && size >= sizeof(sa_family_t);
  if (is_named && address->sa_family == AF_UNSPEC && !is_unix()) return disconnect();
  if (stage_ == Stage::Listening) return -EISCONN;
  if (stage_ == Stage::Connecting) return -EALREADY;
  if (stage_ == Stage::Connected) return std::exchange(told_connected_, true) ? -EISCONN : 0;
  if (stage_ == Stage::Failed) {
    stage_ = Stage::Fresh;
    end_ = nullptr;
    if (const int code = std::exchange(error_, 0)) return -code;
  }
  int code = 0;
  if (is_unix()) {
    const std::optional<std::string> path = unix_path(address, size, code);
    return path ? connect_to_path(*path) : -code;
  }
  const std::optional<Address> peer = ip_address(options_.domain(), address, size, code);
  return peer ? connect_to(*peer) : -code;
}

// To any address is to this machine.
int StreamSocket::connect_to(const Address& peer) {
  if (peer.is_multicast() || peer.is_broadcast()) return -ENETUNREACH;
  const std::uint16_t own_port = bound_ ? bound_->port() : std::uint16_t{0};
  hold(connection_to(machine(), network_, peer, own_port), Connection::Client);
  stage_ = Stage::Connecting;
  told_connected_ = false;
  end_->dial();
  return -EINPROGRESS;
}

int StreamSocket::connect_to_path(const std::string& path) {
  if (path.empty()) return -ECONNREFUSED;
  Listening* const listening = network_.listening_at(machine(), path);
  if (listening == nullptr) {
    const bool exists = path.front() == '@' || network_.is_bound(machine(), path);
    return exists ? -ECONNREFUSED : -ENOENT;
  }
  auto connection = network_.make_local_connection(machine(), path);
  if (!listening->arrived(connection)) return -EAGAIN;
  hold(std::move(connection), Connection::Client);
  stage_ = Stage::Connected;
  told_connected_ = true;
  changed();
  return 0;
}

void StreamSocket::connected_end(int code) {
  FERMATA_ASSERT(stage_ == Stage::Connecting);
  stage_ = code == 0 ? Stage::Connected : Stage::Failed;
  error_ = code;
  if (code != 0) end_->close();
  changed();
}

int StreamSocket::take_error() {
  if (const int code = std::exchange(error_, 0)) return code;
  return take_break();
}

int StreamSocket::take_break() {
  if (stage_ != Stage::Connected || is_unix()) return 0;
  end_->take_in();
  if (!end_->broken() || std::exchange(told_break_, true)) return 0;
  return end_->broken_code();
}

// --- readiness ---

void StreamSocket::watched(bool value) noexcept {
  is_watched_ = value;
  if (end_ == nullptr || stage_ == Stage::Failed) return;
  end_->watch(value);
}

void StreamSocket::input_came() {
  end_->take_in();
  changed();
  if (end_ != nullptr) end_->expect_arrival();
}

Readiness StreamSocket::readiness() {
  switch (stage_) {
    case Stage::Fresh:
      return EPOLLOUT | EPOLLHUP;
    case Stage::Listening:
      return queue_.empty() ? 0 : Readiness{EPOLLIN};
    case Stage::Connecting:
      return 0;
    case Stage::Failed:
      return EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLHUP | (error_ != 0 ? Readiness{EPOLLERR} : 0);
    case Stage::Connected:
      break;
  }
  end_->take_in();
  const bool broken = end_->broken();
  const bool ended = broken || end_->input_ended() || shut_reading_;
  Readiness ready = 0;
  if (ended || !end_->unread().empty()) ready |= EPOLLIN;
  if (broken || shut_writing_ || end_->room() > 0) ready |= EPOLLOUT;
  if (ended) ready |= EPOLLRDHUP;
  if (broken || (ended && shut_writing_)) ready |= EPOLLHUP;
  if (broken && !told_break_) ready |= EPOLLERR;
  const Connection::End& there = end_->connection().end(Connection::other(end_->side()));
  if (is_unix() && there.closed) ready |= EPOLLHUP | EPOLLOUT;
  return ready;
}

std::optional<int> StreamSocket::readable_bytes() {
  if (stage_ == Stage::Listening) return std::nullopt;
  if (stage_ != Stage::Connected) return 0;
  end_->take_in();
  return static_cast<int>(end_->unread().size());
}

// --- transfer ---

ssize_t StreamSocket::receive(msghdr& message, int flags) {
  if ((flags & (MSG_OOB | MSG_ERRQUEUE)) != 0) return (flags & MSG_OOB) != 0 ? -EINVAL : -EAGAIN;
  message.msg_namelen = 0;
  message.msg_controllen = 0;
  message.msg_flags = 0;
  if (stage_ == Stage::Connecting) return -EAGAIN;
  if (stage_ != Stage::Connected) {
    const int code = take_error();
    return -(code != 0 ? code : ENOTCONN);
  }
  const std::span<const iovec> target(message.msg_iov, message.msg_iovlen);
  const std::size_t room = size_of(target);
  end_->take_in();
  if (!end_->unread().empty()) {
    if (room == 0) return 0;
    const std::size_t whole = std::min(room, end_->unread().size());
    const bool peeks = (flags & MSG_PEEK) != 0;
    const std::size_t part = peeks ? whole : end_->drawn_read(whole);
    // With MSG_TRUNC, TCP throws away what it would give.
    const bool is_wanted = is_unix() || (flags & MSG_TRUNC) == 0;
    if (is_wanted) scatter(end_->unread().first(part), target);
    if (peeks) return static_cast<ssize_t>(part);
    const Arrival arrival = end_->connection().taken(end_->side(), part);
    end_->consume(part);
    return static_cast<ssize_t>(part);
  }
  const Arrival arrival = end_->connection().ended(end_->side());
  if (const int code = take_break()) return -code;
  return end_->broken() || end_->input_ended() || shut_reading_ ? 0 : -EAGAIN;
}

ssize_t StreamSocket::send(const msghdr& message, int flags) {
  if ((flags & MSG_OOB) != 0) return -EOPNOTSUPP;
  if (message.msg_controllen != 0) return -EOPNOTSUPP;
  if (stage_ == Stage::Connecting) return -EAGAIN;
  if (stage_ != Stage::Connected) {
    const int code = take_error();
    return -(code != 0 ? code : is_unix() ? ENOTCONN : EPIPE);
  }
  if (shut_writing_) return -EPIPE;
  end_->take_in();
  if (end_->obstacle() != 0) {
    const int code = take_break();
    return -(code != 0 ? code : EPIPE);
  }
  const std::span<const iovec> source(message.msg_iov, message.msg_iovlen);
  std::size_t accepted = 0;
  for (const iovec& each : source) {
    if (each.iov_len == 0) continue;
    const std::size_t part =
        end_->accept({static_cast<const std::byte*>(each.iov_base), each.iov_len});
    accepted += part;
    if (part < each.iov_len) break;
  }
  return accepted == 0 && size_of(source) > 0 ? -EAGAIN : static_cast<ssize_t>(accepted);
}

int StreamSocket::shut_down(int how) {
  if (how < SHUT_RD || how > SHUT_RDWR) return -EINVAL;
  if (stage_ != Stage::Connected) return -ENOTCONN;
  if (how != SHUT_WR) shut_reading_ = true;
  if (how != SHUT_RD && !std::exchange(shut_writing_, true)) end_->send_end();
  changed();
  return 0;
}

// --- options ---

int StreamSocket::option(int level, int name, void* value, socklen_t* size) {
  if (level == SOL_SOCKET && (name == SO_ERROR || name == SO_ACCEPTCONN)) {
    const int number = name == SO_ERROR ? take_error() : stage_ == Stage::Listening ? 1 : 0;
    *size = std::min<socklen_t>(*size, sizeof number);
    std::memcpy(value, &number, *size);
    return 0;
  }
  return options_.get(level, name, value, size);
}

int StreamSocket::set_option(int level, int name, const void* value, socklen_t size) {
  const int result = options_.set(level, name, value, size);
  if (result == 0) apply_options();
  return result;
}

void StreamSocket::apply_options() {
  if (end_ == nullptr || end_->connection().local()) return;
  const auto apply = [this](SocketOption option, int value) {
    int before = 0;
    if (end_->option(option, before) == 0 && before != value) {
      static_cast<void>(end_->set_option(option, value));
    }
  };
  const linger& lingers = options_.lingers();
  apply(SocketOption::ResetOnClose, lingers.l_onoff != 0 && lingers.l_linger == 0 ? 1 : 0);
}

}  // namespace fermata::sim::detail
