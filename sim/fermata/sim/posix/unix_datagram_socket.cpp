// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/unix_datagram_socket.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/sim/machine/machine.hpp"
#include "fermata/sim/net/network.hpp"
#include "fermata/sim/posix/rights.hpp"
#include "fermata/sim/posix/socket_address.hpp"

namespace fermata::sim::detail {

namespace {
/// What Linux lets wait: net.unix.max_dgram_qlen, and one more.
constexpr std::size_t kMostWaiting = 11;
/// What fits into the buffer that Linux gives a sender.
constexpr std::size_t kLongestLetter = 212'992 - 32;
}  // namespace

UnixDatagramSocket::UnixDatagramSocket(Machine& machine, Network& network, UnixNames& names,
                                       UnixDatagramSockets& bound, std::uint64_t serial)
    : Socket(machine, "Unix datagram socket", serial, {AF_UNIX, SOCK_DGRAM, 0}),
      network_(network),
      names_(names),
      bound_(bound) {}

// Who is connected to it is refused from now on.
UnixDatagramSocket::~UnixDatagramSocket() {
  if (!path_.empty() && is_abstract(path_)) bound_.erase(path_);
  if (!path_.empty() && !is_abstract(path_)) names_.unbind(name_);
  if (peer_ != nullptr) std::erase(peer_->senders_, this);
  for (UnixDatagramSocket* const sender : std::exchange(senders_, {})) {
    sender->peer_ = nullptr;
    sender->gone_ = path_;
    sender->changed();
  }
}

void UnixDatagramSocket::join(UnixDatagramSocket& first, UnixDatagramSocket& second) {
  FERMATA_ASSERT(first.peer_ == nullptr && second.peer_ == nullptr);
  first.peer_ = &second;
  second.peer_ = &first;
  first.senders_.push_back(&second);
  second.senders_.push_back(&first);
}

std::string UnixDatagramSocket::state() { return fmt::format("{} datagrams wait", queue_.size()); }

// --- names ---

int UnixDatagramSocket::bind(const sockaddr* address, socklen_t size) {
  int code = 0;
  const std::optional<std::string> path = unix_path(address, size, code);
  if (!path) return -code;
  if (path->empty()) return -EOPNOTSUPP;  // A name that the system chooses.
  if (!is_abstract(*path)) {
    code = names_.bind(*path, *this, path_.empty(), name_);
  } else if (!path_.empty()) {
    code = EINVAL;
  } else if (!bound_.emplace(*path, this).second) {
    code = EADDRINUSE;
  }
  if (code != 0) return -code;
  path_ = *path;
  return 0;
}

int UnixDatagramSocket::name(bool own, sockaddr* address, socklen_t* size) {
  if (!own && peer_ == nullptr && !gone_) return -ENOTCONN;
  spell_unix(own ? path_ : peer_ != nullptr ? peer_->path_ : *gone_, address, size);
  return 0;
}

UnixDatagramSocket* UnixDatagramSocket::receiver_at(const std::string& path, int& code) const {
  code = ECONNREFUSED;
  if (path.empty()) return nullptr;
  UnixDatagramSocket* const found = socket_at(path, code);
  if (found == nullptr) return nullptr;
  code = found->hears(*this) ? 0 : EPERM;
  return code == 0 ? found : nullptr;
}

// Each type of sockets has its own abstract names.
UnixDatagramSocket* UnixDatagramSocket::socket_at(const std::string& path, int& code) const {
  if (is_abstract(path)) {
    const auto found = bound_.find(path);
    return found == bound_.end() ? nullptr : found->second;
  }
  Socket* const named = names_.find(path, code);
  auto* const socket = dynamic_cast<UnixDatagramSocket*>(named);
  const bool is_stream = named != nullptr && socket == nullptr;
  if (is_stream || network_.is_bound(machine(), path)) code = EPROTOTYPE;
  return socket;
}

bool UnixDatagramSocket::hears(const UnixDatagramSocket& sender) const noexcept {
  return peer_ == nullptr ? !gone_ : peer_ == &sender;
}

bool UnixDatagramSocket::is_full() const noexcept { return queue_.size() >= kMostWaiting; }

int UnixDatagramSocket::connect(const sockaddr* address, socklen_t size) {
  if (address != nullptr && size >= sizeof(sa_family_t) && address->sa_family == AF_UNSPEC) {
    disconnect();
    changed();
    return 0;
  }
  int code = 0;
  const std::optional<std::string> path = unix_path(address, size, code);
  if (!path) return -code;
  UnixDatagramSocket* const receiver = receiver_at(*path, code);
  if (receiver == nullptr) return -code;
  if (receiver != peer_) {
    disconnect();
    peer_ = receiver;
    receiver->senders_.push_back(this);
  }
  changed();
  return 0;
}

// What waits is dropped with the connection, and a peer that was connected to this is told.
void UnixDatagramSocket::disconnect() {
  if (std::exchange(gone_, std::nullopt)) queue_.clear();
  if (peer_ == nullptr) return;
  UnixDatagramSocket* const before = std::exchange(peer_, nullptr);
  std::erase(before->senders_, this);
  if (std::exchange(queue_, {}).empty()) return;
  if (before->peer_ == this) before->error_ = ECONNRESET;
  before->changed();
}

// --- readiness ---

Readiness UnixDatagramSocket::readiness() {
  Readiness ready = 0;
  if (error_ != 0) ready |= EPOLLERR;
  if (shut_.both()) ready |= EPOLLHUP;
  if (shut_.reading) ready |= EPOLLRDHUP | EPOLLIN;
  if (!queue_.empty()) ready |= EPOLLIN;
  if (peer_ == nullptr || !peer_->is_full() || !peer_->hears(*this)) ready |= EPOLLOUT;
  return ready;
}

int UnixDatagramSocket::readable_bytes() {
  return queue_.empty() ? 0 : static_cast<int>(queue_.front().bytes.size());
}

void UnixDatagramSocket::tell_senders() {
  for (UnixDatagramSocket* const sender : senders_) sender->changed();
}

// --- transfer ---

ssize_t UnixDatagramSocket::receive(msghdr& message, int flags, std::shared_ptr<Rights>& rights) {
  if ((flags & MSG_OOB) != 0) return -EOPNOTSUPP;
  if (const int code = take_error()) return -code;
  if (queue_.empty()) {
    const bool waits = (status & O_NONBLOCK) == 0;
    return shut_.reading && waits ? 0 : -EAGAIN;
  }
  const Letter& first = queue_.front();
  const std::span<const iovec> target(message.msg_iov, message.msg_iovlen);
  const std::size_t part = std::min(size_of(target), first.bytes.size());
  scatter(std::span(first.bytes).first(part), target);
  message.msg_flags = part < first.bytes.size() ? MSG_TRUNC : 0;
  if (first.from.empty()) {
    message.msg_namelen = 0;
  } else {
    spell_unix(first.from, static_cast<sockaddr*>(message.msg_name), &message.msg_namelen);
  }
  rights = first.rights;
  const std::size_t told = (flags & MSG_TRUNC) != 0 ? first.bytes.size() : part;
  if ((flags & MSG_PEEK) != 0) return static_cast<ssize_t>(told);
  queue_.pop_front();
  tell_senders();
  return static_cast<ssize_t>(told);
}

// A letter that cannot be delivered gives its room back, which Linux tells as news.
ssize_t UnixDatagramSocket::send(const msghdr& message, int flags,
                                 std::shared_ptr<Rights>& rights) {
  if ((flags & MSG_OOB) != 0) return -EOPNOTSUPP;
  std::optional<std::string> path;
  if (message.msg_namelen != 0) {
    int code = 0;
    path = unix_path(static_cast<const sockaddr*>(message.msg_name), message.msg_namelen, code);
    if (!path) return -code;
  }
  std::vector<std::byte> bytes = gather({message.msg_iov, message.msg_iovlen});
  if (bytes.size() > kLongestLetter) return -EMSGSIZE;
  if (const int error = take_error()) return -error;
  if (shut_.writing) return -EPIPE;
  const auto size = static_cast<ssize_t>(bytes.size());
  const int code = deliver({std::move(bytes), path_, rights}, path);
  if (code == 0) rights = nullptr;
  if (code != 0) changed(EPOLLOUT);
  return code != 0 ? -code : size;
}

int UnixDatagramSocket::deliver(Letter&& letter, const std::optional<std::string>& path) {
  if (!path && gone_) {
    disconnect();
    return ECONNREFUSED;
  }
  int code = ENOTCONN;
  UnixDatagramSocket* const receiver = path ? receiver_at(*path, code) : peer_;
  if (receiver == nullptr) return code;
  if (!receiver->hears(*this)) return EPERM;
  if (receiver->shut_.reading) return EPIPE;
  if (receiver != this && receiver->is_full()) return EAGAIN;
  receiver->queue_.push_back(std::move(letter));
  receiver->changed(EPOLLIN);
  return 0;
}

int UnixDatagramSocket::shut_down(int how) {
  if (how < SHUT_RD || how > SHUT_RDWR) return -EINVAL;
  shut_.add(how);
  changed();
  return 0;
}

}  // namespace fermata::sim::detail
