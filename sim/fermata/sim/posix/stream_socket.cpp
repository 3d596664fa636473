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

constexpr int kProtocol = IPPROTO_TCP;

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
    : Socket(machine, "TCP socket", serial, {domain, SOCK_STREAM, kProtocol}), network_(network) {}

StreamSocket::StreamSocket(Machine& machine, Network& network, std::uint64_t serial, int domain,
                           std::shared_ptr<Connection> connection, Connection::Side side)
    : StreamSocket(machine, network, serial, domain) {
  hold(std::move(connection), side);
  stage_ = Stage::Connected;
  told_connected_ = true;
}

StreamSocket::~StreamSocket() {
  let_go_of_name();
  refuse_queue();
  if (end_ != nullptr) end_->close();
}

void StreamSocket::let_go_of_name() noexcept {
  if (bound_) network_.unbind(machine(), *std::exchange(bound_, std::nullopt));
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
  return end_ == nullptr ? "its other end" : "the peer, " + end_->peer_address().text();
}

// --- names ---

int StreamSocket::bind(const sockaddr* address, socklen_t size) {
  int code = 0;
  const std::optional<Address> wanted = ip_address(options_.domain(), address, size, code);
  if (!wanted) return -code;
  const bool over = stage_ == Stage::Failed || is_over();
  if (over) let_go_of_port();
  if (bound_ || (stage_ != Stage::Fresh && !over)) return -EINVAL;
  const int code_of_bind = bind_at(*wanted);
  if (code_of_bind == 0 && !wanted->is_any()) keeps_address_ = true;
  return -code_of_bind;
}

int StreamSocket::bind_at(const Address& address) {
  port_was_chosen_ = address.port() == 0;
  return code_of([&] { bound_ = network_.bind(machine(), address, nullptr, bound_versions()); });
}

BoundVersions StreamSocket::bound_versions() const noexcept {
  const bool only_v6 = options_.number(IPPROTO_IPV6, IPV6_V6ONLY) != 0;
  return only_v6 ? BoundVersions::OnlyV6 : BoundVersions::AsTheAddress;
}

// What the system chose is not kept for another connection, but goes on to be shown.
void StreamSocket::let_go_of_port() {
  const bool bound_later = bound_ && end_ != nullptr && bound_->port() != end_->address().port();
  if (!bound_ || !port_was_chosen_ || bound_later) return;
  shown_ = bound_;
  let_go_of_name();
}

int StreamSocket::bind_somewhere() {
  if (bound_) return 0;
  return bind_at(keeps_address_ && shown_ ? shown_->with_port(0) : any_address());
}

int StreamSocket::name(bool own, sockaddr* address, socklen_t* size) {
  if (!own && (stage_ != Stage::Connected || is_over())) return -ENOTCONN;
  Address value = any_address();
  const bool was_bound_later = bound_ && stage_ == Stage::Failed;
  if (end_ != nullptr && !was_bound_later) {
    value = seen_by(version(), own ? end_->address() : end_->peer_address());
  } else if (bound_ || shown_) {
    value = bound_ ? *bound_ : *shown_;
  }
  spell(value, address, size);
  return 0;
}

// --- a listener ---

// The system lets one more wait than it was told.
int StreamSocket::listen(int backlog) {
  constexpr std::size_t kMostBacklog = 4096;
  if (stage_ != Stage::Fresh && stage_ != Stage::Listening) return -EINVAL;
  if (const int code = bind_somewhere()) return -code;
  const auto wanted = static_cast<std::size_t>(static_cast<unsigned>(backlog));
  backlog_ = std::min(wanted, kMostBacklog) + 1;
  if (std::exchange(stage_, Stage::Listening) == Stage::Listening) return 0;
  network_.listen(machine(), *bound_, *this);
  changed();
  return 0;
}

void StreamSocket::stop_listening() {
  const Address address = *bound_;
  let_go_of_name();
  bound_ = network_.bind(machine(), address, nullptr);
  let_go_of_port();
  refuse_queue();
  stage_ = Stage::Fresh;
}

void StreamSocket::refuse_queue() {
  for (const auto& connection : queue_) {
    connection->send_reset(Connection::Server);
    connection->close(Connection::Server);
  }
  queue_.clear();
}

bool StreamSocket::arrived(const std::shared_ptr<Connection>& connection) {
  if (queue_.size() >= backlog_) return false;
  queue_.push_back(connection);
  changed(EPOLLIN);
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
  auto accepted = std::make_shared<StreamSocket>(machine(), network_, serial, options_.domain(),
                                                 std::move(connection), Connection::Server);
  accepted->options_ = options_;
  accepted->options_changed();
  accepted->keeps_address_ = !bound_->is_any();
  return accepted;
}

// --- connecting ---

void StreamSocket::hold(std::shared_ptr<Connection> connection, Connection::Side side) {
  FERMATA_ASSERT(end_ == nullptr);
  end_ = std::make_unique<StreamEnd>(*this, network_, std::move(connection), side);
  options_changed();
  if (is_watched_) watched(true);
}

int StreamSocket::connect(const sockaddr* address, socklen_t size) {
  if (address == nullptr || size < sizeof(sa_family_t)) return -EINVAL;
  if (address->sa_family == AF_UNSPEC) {
    disconnect();
    return 0;
  }
  if (spent_) return -EINVAL;
  if (stage_ == Stage::Listening) return -EISCONN;
  if (stage_ == Stage::Connecting) return -EALREADY;
  if (stage_ == Stage::Connected && (told_connected_ || !is_over())) {
    return std::exchange(told_connected_, true) ? -EISCONN : 0;
  }
  if (stage_ != Stage::Fresh) {  // It has failed, and can be tried again.
    const int error = take_error();
    disconnect();
    return -(error != 0 ? error : ECONNABORTED);
  }
  int code = 0;
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
  error_ = 0;
  end_->dial();
  return -EINPROGRESS;
}

void StreamSocket::connected_end(int code) {
  FERMATA_ASSERT(stage_ == Stage::Connecting);
  stage_ = code == 0 ? Stage::Connected : Stage::Failed;
  error_ = code;
  if (code != 0) end_->close();
  changed();
}

void StreamSocket::disconnect() {
  if (stage_ == Stage::Listening) stop_listening();
  if (end_ != nullptr) leave_connection();
  stage_ = Stage::Fresh;
  own_shut_ = {};
  told_break_ = false;
  spent_ = false;
  broke_before_end_ = false;
  changed();
}

// What was established, or about to be, counts as broken.
void StreamSocket::leave_connection() {
  FERMATA_ASSERT(end_ != nullptr);
  const bool breaks = stage_ == Stage::Connecting || (stage_ == Stage::Connected && !is_over());
  if (breaks && stage_ == Stage::Connected) end_->connection().send_reset(end_->side());
  const int pending = take_error();
  error_ = breaks ? ECONNRESET : pending;
  const Address& own = end_->address();
  if (!bound_) shown_ = keeps_address_ ? own : any_address().with_port(own.port());
  let_go_of_port();
  end_->close();
  end_ = nullptr;
}

int StreamSocket::take_error() {
  if (const int code = std::exchange(error_, 0)) return code;
  return take_break();
}

int StreamSocket::take_break() {
  if (stage_ != Stage::Connected) return 0;
  take_in();
  if (!end_->broken() || std::exchange(told_break_, true)) return 0;
  // Who was told the end already, and writes, has done so into a broken pipe.
  const int code = end_->broken_code();
  return code == ECONNRESET && end_->input_ended() && !broke_before_end_ ? EPIPE : code;
}

// --- readiness ---

void StreamSocket::watched(bool value) noexcept {
  is_watched_ = value;
  if (end_ == nullptr || stage_ == Stage::Failed) return;
  end_->watch(value || own_shut_.both());
}

// What comes when nobody can read it any more, and nothing was to be said, breaks the connection.
void StreamSocket::take_in() {
  const std::size_t before = end_->unread().size();
  end_->take_in();
  const std::size_t came = end_->unread().size() - before;
  if (came == 0 || !own_shut_.both()) return;
  end_->refuse_input(came);
  broke_before_end_ = true;
}

void StreamSocket::input_came() {
  take_in();
  changed(end_->input_ended() || end_->broken() ? kAnything : Readiness{EPOLLIN});
  if (end_ != nullptr) end_->expect_arrival();
}

// By a reset, or in both directions.
bool StreamSocket::is_over() {
  if (stage_ != Stage::Connected) return false;
  take_in();
  return end_->broken() || (own_shut_.writing && end_->input_ended());
}

Shut StreamSocket::shut() {
  if (stage_ == Stage::Failed) return {true, true};
  if (stage_ != Stage::Connected) return own_shut_;
  const bool broken = is_over() && end_->broken();
  return {own_shut_.reading || broken || end_->input_ended(), own_shut_.writing || broken};
}

bool StreamSocket::has_error() {
  return error_ != 0 || (is_over() && end_->broken() && !told_break_);
}

Readiness StreamSocket::readiness() {
  if (stage_ == Stage::Listening) return queue_.empty() ? 0 : Readiness{EPOLLIN};
  const bool connected = stage_ == Stage::Connected;
  const Shut shut = this->shut();
  const bool closed = stage_ == Stage::Fresh || stage_ == Stage::Failed || is_over();
  Readiness ready = 0;
  if (closed || shut.both()) ready |= EPOLLHUP;
  if (shut.reading) ready |= EPOLLIN | EPOLLRDHUP;
  if (connected && !end_->unread().empty()) ready |= EPOLLIN;
  const bool has_room = !connected || end_->room() > 0;
  if (stage_ != Stage::Connecting && (shut.writing || has_room)) ready |= EPOLLOUT;
  if (has_error()) ready |= EPOLLERR;
  return ready;
}

int StreamSocket::readable_bytes() {
  if (stage_ == Stage::Listening) return -EINVAL;
  if (stage_ != Stage::Connected) return 0;
  take_in();
  return static_cast<int>(end_->unread().size());
}

// --- transfer ---

ssize_t StreamSocket::receive(msghdr& message, int flags, std::shared_ptr<Rights>& /*rights*/) {
  if ((flags & (MSG_OOB | MSG_ERRQUEUE)) != 0) return (flags & MSG_OOB) != 0 ? -EINVAL : -EAGAIN;
  message.msg_namelen = 0;
  message.msg_flags = 0;
  if (stage_ == Stage::Connecting) return -EAGAIN;
  if (stage_ == Stage::Listening) return -ENOTCONN;
  if (stage_ != Stage::Connected) {
    if (const int code = take_error()) return -code;
    return shut().reading ? 0 : -ENOTCONN;
  }
  const std::span<const iovec> target(message.msg_iov, message.msg_iovlen);
  take_in();
  if (!end_->unread().empty()) return take(target, flags);
  const Arrival arrival = end_->connection().ended(end_->side());
  if (end_->input_ended() && !broke_before_end_) return 0;
  if (const int code = take_break()) return -code;
  return shut().reading ? 0 : -EAGAIN;
}

// MSG_TRUNC: what is taken is not told.
ssize_t StreamSocket::take(std::span<const iovec> target, int flags) {
  FERMATA_ASSERT(!end_->unread().empty());
  const std::size_t whole = std::min(size_of(target), end_->unread().size());
  const bool peeks = (flags & MSG_PEEK) != 0;
  const std::size_t part = peeks ? whole : end_->drawn_read(whole);
  if ((flags & MSG_TRUNC) == 0) scatter(end_->unread().first(part), target);
  if (peeks || part == 0) return static_cast<ssize_t>(part);
  const Arrival arrival = end_->connection().taken(end_->side(), part);
  end_->consume(part);
  return static_cast<ssize_t>(part);
}

ssize_t StreamSocket::send(const msghdr& message, int flags, std::shared_ptr<Rights>& /*rights*/) {
  if ((flags & MSG_OOB) != 0) return -EOPNOTSUPP;
  if (message.msg_controllen != 0) return -EOPNOTSUPP;
  if (stage_ == Stage::Connecting) return -EAGAIN;
  if (stage_ != Stage::Connected) {
    const int code = take_error();
    return -(code != 0 ? code : EPIPE);
  }
  take_in();
  if (own_shut_.writing || end_->obstacle() != 0) {
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
  switch (stage_) {
    case Stage::Listening:
      if (how != SHUT_WR) stop_listening();
      break;
    case Stage::Connecting:
      disconnect();
      break;
    case Stage::Fresh:
    case Stage::Failed:
      spent_ = stage_ == Stage::Failed;
      own_shut_.add(how);
      changed();
      return -ENOTCONN;
    case Stage::Connected: {
      const bool over = is_over();
      spent_ = over && !told_connected_;
      if (!over) told_connected_ = true;
      if (!over && how != SHUT_RD && !own_shut_.writing) end_->send_end();
      own_shut_.add(how);
      watched(is_watched_);
      changed();
      return over ? -ENOTCONN : 0;
    }
  }
  changed();
  return 0;
}

void StreamSocket::options_changed() {
  if (end_ == nullptr || end_->connection().local()) return;
  const auto apply = [this](backend::SocketOption option, int value) {
    int before = 0;
    if (end_->option(option, before) == 0 && before != value) {
      static_cast<void>(end_->set_option(option, value));
    }
  };
  const linger& lingers = options_.lingers();
  apply(backend::SocketOption::ResetOnClose, lingers.l_onoff != 0 && lingers.l_linger == 0 ? 1 : 0);
  end_->set_patience(patience());
}

Patience StreamSocket::patience() const noexcept {
  return {
      .repeats = true,
      .asks = options_.number(SOL_SOCKET, SO_KEEPALIVE) != 0,
      .idle = std::chrono::seconds(options_.number(IPPROTO_TCP, TCP_KEEPIDLE)),
      .interval = std::chrono::seconds(options_.number(IPPROTO_TCP, TCP_KEEPINTVL)),
      .questions_max = options_.number(IPPROTO_TCP, TCP_KEEPCNT),
      .user_timeout = std::chrono::milliseconds(options_.number(IPPROTO_TCP, TCP_USER_TIMEOUT))};
}

}  // namespace fermata::sim::detail
