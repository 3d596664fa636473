// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/unix_socket.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/sim/machine/machine.hpp"
#include "fermata/sim/posix/rights.hpp"
#include "fermata/sim/posix/socket_address.hpp"

namespace fermata::sim::detail {

UnixSocket::UnixSocket(Machine& machine, Network& network, UnixNames& names, std::uint64_t serial)
    : Socket(machine, "Unix socket", serial, {AF_UNIX, SOCK_STREAM, 0}),
      network_(network),
      names_(names) {}

UnixSocket::UnixSocket(Machine& machine, Network& network, UnixNames& names, std::uint64_t serial,
                       std::shared_ptr<Connection> connection, Connection::Side side)
    : UnixSocket(machine, network, names, serial) {
  hold(std::move(connection), side);
}

UnixSocket::~UnixSocket() {
  if (owns_path_ && is_abstract(path_)) network_.unbind(machine(), path_);
  if (owns_path_ && !is_abstract(path_)) names_.unbind(name_);
  for (const auto& connection : queue_) {
    const std::shared_ptr<void> unread =
        std::exchange(connection->end(Connection::Server).luggage, nullptr);
    connection->send_reset(Connection::Server);
    connection->close(Connection::Server);
  }
  if (end_ == nullptr) return;
  Endpoint* const peer = there().endpoint;
  const std::shared_ptr<void> unread = std::exchange(here().luggage, nullptr);
  end_->close();
  if (peer != nullptr) peer->expect_room(this->machine().now());  // It has to wait no more.
}

std::array<std::shared_ptr<Socket>, 2> UnixSocket::make_pair(
    Machine& machine, Network& network, UnixNames& names,
    const std::array<std::uint64_t, 2>& serials) {
  const auto connection = network.make_local_connection(machine, "socket pair");
  const auto end = [&](std::uint64_t serial, Connection::Side side) {
    return std::make_shared<UnixSocket>(machine, network, names, serial, connection, side);
  };
  return {end(serials[0], Connection::Client), end(serials[1], Connection::Server)};
}

void UnixSocket::hold(std::shared_ptr<Connection> connection, Connection::Side side) {
  FERMATA_ASSERT(end_ == nullptr);
  end_ = std::make_unique<StreamEnd>(*this, network_, std::move(connection), side);
  stage_ = Stage::Connected;
  if (is_watched_) watched(true);
}

std::string UnixSocket::state() {
  if (stage_ == Stage::Fresh) return "not connected";
  if (stage_ == Stage::Listening) return fmt::format("{} connections wait", queue_.size());
  return end_->connection().text();
}

std::string UnixSocket::maker() {
  return stage_ == Stage::Listening ? "a client" : "its other end";
}

// --- names ---

int UnixSocket::bind(const sockaddr* address, socklen_t size) {
  int code = 0;
  const std::optional<std::string> path = unix_path(address, size, code);
  if (!path) return -code;
  if (path->empty()) return -EOPNOTSUPP;  // A name that the system chooses.
  if (!is_abstract(*path)) {
    code = names_.bind(*path, *this, path_.empty(), name_);
  } else if (!path_.empty()) {
    code = EINVAL;
  } else if (network_.is_bound(machine(), *path)) {
    code = EADDRINUSE;
  } else {
    network_.bind(machine(), *path, nullptr);
  }
  if (code != 0) return -code;
  path_ = *path;
  owns_path_ = true;
  if (end_ != nullptr) here().path = path_;
  return 0;
}

int UnixSocket::name(bool own, sockaddr* address, socklen_t* size) {
  if (!own && end_ == nullptr) return -ENOTCONN;
  spell_unix(own ? path_ : there().path, address, size);
  return 0;
}

// --- a listener ---

// The system lets one more wait than it was told.
int UnixSocket::listen(int backlog) {
  constexpr std::size_t kMostBacklog = 4096;
  if (path_.empty() || stage_ == Stage::Connected) return -EINVAL;
  const auto wanted = static_cast<std::size_t>(static_cast<unsigned>(backlog));
  backlog_ = std::min(wanted, kMostBacklog) + 1;
  if (std::exchange(stage_, Stage::Listening) == Stage::Listening) return 0;
  if (is_abstract(path_)) network_.listen(machine(), path_, *this);
  changed();
  return 0;
}

bool UnixSocket::arrived(const std::shared_ptr<Connection>& connection) {
  if (queue_.size() >= backlog_) return false;
  queue_.push_back(connection);
  changed(EPOLLIN);
  return true;
}

std::shared_ptr<Socket> UnixSocket::accept(std::uint64_t serial, int& code) {
  code = -EINVAL;
  if (stage_ != Stage::Listening) return nullptr;
  if (queue_.empty()) {
    const bool waits = (status & O_NONBLOCK) == 0;
    if (!own_shut_.reading || !waits) code = -EAGAIN;
    return nullptr;
  }
  code = 0;
  std::shared_ptr<Connection> connection = std::move(queue_.front());
  queue_.pop_front();
  auto accepted = std::make_shared<UnixSocket>(machine(), network_, names_, serial,
                                               std::move(connection), Connection::Server);
  accepted->path_ = path_;
  return accepted;
}

// --- connecting ---

Listening* UnixSocket::listener_at(const std::string& path, int& code) const {
  code = ECONNREFUSED;
  if (path.empty()) return nullptr;
  if (!is_abstract(path) && !network_.is_bound(machine(), path)) {
    Socket* const named = names_.find(path, code);
    if (named == nullptr) return nullptr;
    auto* const socket = dynamic_cast<UnixSocket*>(named);
    code = socket == nullptr ? EPROTOTYPE : ECONNREFUSED;
    return socket != nullptr && socket->takes_connections() ? socket : nullptr;
  }
  Listening* const found = network_.listening_at(machine(), path);
  const auto* const socket = dynamic_cast<const UnixSocket*>(found);
  return socket != nullptr && !socket->takes_connections() ? nullptr : found;
}

// Who listens is looked for first, as by the system.
int UnixSocket::connect(const sockaddr* address, socklen_t size) {
  int code = 0;
  const std::optional<std::string> path = unix_path(address, size, code);
  if (!path) return -code;
  Listening* const listener = listener_at(*path, code);
  if (listener == nullptr) return -code;
  auto* const socket = dynamic_cast<UnixSocket*>(listener);
  if (socket != nullptr && socket->queue_.size() >= socket->backlog_) return -EAGAIN;
  if (stage_ != Stage::Fresh) return stage_ == Stage::Connected ? -EISCONN : -EINVAL;
  auto connection = network_.make_local_connection(machine(), *path);
  connection->end(Connection::Client).path = path_;
  connection->end(Connection::Server).path = *path;
  if (!listener->arrived(connection)) return -EAGAIN;
  hold(std::move(connection), Connection::Client);
  changed();
  return 0;
}

bool UnixSocket::has_error() const {
  if (end_ == nullptr || told_break_) return false;
  end_->take_in();
  return end_->broken();
}

int UnixSocket::take_error() {
  if (!has_error()) return 0;
  told_break_ = true;
  return ECONNRESET;
}

// --- readiness ---

void UnixSocket::watched(bool value) noexcept {
  is_watched_ = value;
  if (end_ != nullptr) end_->watch(value);
}

void UnixSocket::input_came() {
  end_->take_in();
  changed(end_->input_ended() || end_->broken() ? kAnything : Readiness{EPOLLIN});
  end_->expect_arrival();
}

Shut UnixSocket::shut() const {
  Shut shut = own_shut_;
  if (end_ == nullptr) return shut;
  end_->take_in();
  const bool closed = there().closed;
  shut.reading = shut.reading || closed || end_->input_ended();
  shut.writing = shut.writing || closed || there().deaf;
  return shut;
}

Readiness UnixSocket::readiness() {
  const Shut shut = this->shut();
  Readiness ready = 0;
  if (has_error()) ready |= EPOLLERR;
  if (stage_ == Stage::Fresh || shut.both()) ready |= EPOLLHUP;
  if (shut.reading) ready |= EPOLLRDHUP | EPOLLIN;
  if (stage_ == Stage::Listening) return ready | (queue_.empty() ? 0 : Readiness{EPOLLIN});
  if (end_ != nullptr && !end_->unread().empty()) ready |= EPOLLIN;
  if (end_ == nullptr || there().closed || end_->room() > 0) ready |= EPOLLOUT;
  return ready;
}

int UnixSocket::readable_bytes() {
  if (stage_ == Stage::Listening) return -EINVAL;
  if (end_ == nullptr) return 0;
  end_->take_in();
  return static_cast<int>(end_->unread().size());
}

// --- descriptors in messages ---

/// What is in a message is with its first byte.
struct UnixSocket::Luggage {
  struct Piece {
    std::uint64_t begin;
    std::uint64_t end;
    std::shared_ptr<Rights> rights;
  };
  std::deque<Piece> pieces;

  void add(std::uint64_t begin, std::size_t bytes, std::shared_ptr<Rights> rights) {
    constexpr std::size_t kMostTogether = 32'768;  // What Linux keeps in one piece.
    pieces.push_back({begin, begin + std::min(bytes, kMostTogether), std::move(rights)});
  }
};

UnixSocket::Luggage& UnixSocket::luggage_of(Connection::End& end) {
  if (end.luggage == nullptr) end.luggage = std::make_shared<Luggage>();
  return *static_cast<Luggage*>(end.luggage.get());
}

std::size_t UnixSocket::up_to_rights(std::size_t whole) const {
  if (here().luggage == nullptr || luggage_of(here()).pieces.empty()) return whole;
  const Luggage::Piece& next = luggage_of(here()).pieces.front();
  FERMATA_ASSERT(next.begin >= received_);
  if (next.begin >= received_ + whole) return whole;
  return std::min<std::size_t>(whole, next.end - received_);
}

// Those that come next are taken with no bytes as well.
std::shared_ptr<Rights> UnixSocket::rights_within(std::size_t bytes, bool peeks) {
  if (here().luggage == nullptr || luggage_of(here()).pieces.empty()) return nullptr;
  std::deque<Luggage::Piece>& pieces = luggage_of(here()).pieces;
  if (pieces.front().begin >= received_ + std::max<std::size_t>(bytes, 1)) return nullptr;
  std::shared_ptr<Rights> rights = pieces.front().rights;
  if (!peeks) pieces.pop_front();
  return rights;
}

// --- transfer ---

ssize_t UnixSocket::receive(msghdr& message, int flags, std::shared_ptr<Rights>& rights) {
  if ((flags & MSG_OOB) != 0) return -EINVAL;
  if (end_ == nullptr) return -EINVAL;
  message.msg_flags = 0;
  end_->take_in();
  const std::span<const std::byte> unread = end_->unread();
  if (unread.empty()) {
    message.msg_namelen = 0;
    if (const int code = take_error()) return -code;
    return shut().reading ? 0 : -EAGAIN;
  }
  spell_unix(there().path, static_cast<sockaddr*>(message.msg_name), &message.msg_namelen);
  const std::span<const iovec> target(message.msg_iov, message.msg_iovlen);
  const bool peeks = (flags & MSG_PEEK) != 0;
  const std::size_t whole = up_to_rights(std::min(size_of(target), unread.size()));
  const std::size_t part = peeks ? whole : end_->drawn_read(whole);
  scatter(unread.first(part), target);
  rights = rights_within(part, peeks);
  if (peeks) return static_cast<ssize_t>(part);
  received_ += part;
  end_->consume(part);
  return static_cast<ssize_t>(part);
}

ssize_t UnixSocket::send(const msghdr& message, int flags, std::shared_ptr<Rights>& rights) {
  if ((flags & MSG_OOB) != 0) return -EOPNOTSUPP;
  if (message.msg_namelen != 0) return end_ != nullptr ? -EISCONN : -EOPNOTSUPP;
  if (end_ == nullptr) return -ENOTCONN;
  if (shut().writing) return -EPIPE;
  const std::vector<std::byte> bytes = gather({message.msg_iov, message.msg_iovlen});
  if (bytes.empty()) return 0;
  const std::size_t part = end_->accept(bytes);
  if (part == 0) return -EAGAIN;
  if (rights != nullptr) luggage_of(there()).add(sent_, part, std::exchange(rights, nullptr));
  sent_ += part;
  return static_cast<ssize_t>(part);
}

// What is not connected is shut as well.
int UnixSocket::shut_down(int how) {
  if (how < SHUT_RD || how > SHUT_RDWR) return -EINVAL;
  const bool reading = how != SHUT_WR;
  const bool writing = how != SHUT_RD;
  if (end_ != nullptr && reading) {
    here().deaf = true;
    if (there().endpoint != nullptr) there().endpoint->expect_room(machine().now());
  }
  if (end_ != nullptr && writing && !own_shut_.writing) end_->send_end();
  own_shut_.add(how);
  changed();
  return 0;
}

}  // namespace fermata::sim::detail
