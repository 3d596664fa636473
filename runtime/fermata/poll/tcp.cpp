// SPDX-License-Identifier: Apache-2.0
#include "fermata/poll/tcp.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <cerrno>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/os/socket_address.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::poll::detail {

namespace {

/// Writes of one stream before others have their turn.
constexpr int kWritesPerTurn = 16;

}  // namespace

// --- TcpSocket ---

TcpSocket::TcpSocket(Watches& watches, int descriptor)
    : SocketStream(watches.attachment(), backend::IoType::Tcp), watches_(watches) {
  const int limit = watches.backend().capabilities().descriptor_limit;
  if (limit != 0 && descriptor >= limit) throw InputOutputError("adopt a socket", EMFILE);
  (void)os::set_option(descriptor, backend::SocketOption::NoDelay, 1);
  set_socket(descriptor);
}

void TcpSocket::connect(const Address& peer) {
  const os::NativeAddress native(peer);
  int code = os::kernel.connect(socket(), native.get(), native.size) == 0 ? 0 : errno;
  if (code == EINPROGRESS || code == EINTR) code = 0;
  connecting_ = true;
  if (code == 0) code = update_watch();
  if (code != 0) throw InputOutputError(fmt::format("connect to {}", peer.text()), code);
}

int TcpSocket::start_reading() {
  reading_ = true;
  const int code = update_watch();
  reading_ = code == 0;
  return code;
}

void TcpSocket::stop_reading() noexcept {
  reading_ = false;
  (void)update_watch();
}

int TcpSocket::submit_write(std::span<const std::byte> data) {
  FERMATA_ASSERT(unwritten_.empty());
  unwritten_ = data;
  return update_watch();
}

void TcpSocket::submit_shutdown() noexcept {
  FERMATA_ASSERT(unwritten_.empty());
  os::kernel.shutdown(socket(), SHUT_WR);
}

void TcpSocket::close_backend() noexcept {
  FERMATA_ASSERT(is_closed());
  if (socket() >= 0) {
    watches_.unwatch(*this, socket());
    os::kernel.close(release_socket());
  }
  close_acknowledged();
}

int TcpSocket::update_watch() noexcept {
  PollMask mask = reading_ ? PollMask::Readable : PollMask::None;
  if (connecting_ || !unwritten_.empty()) mask |= PollMask::Writable;
  if (!any(mask)) {
    watches_.unwatch(*this, socket());
    return 0;
  }
  try {
    watches_.watch(*this, socket(), mask);
  } catch (const PollError& error) {
    return error.code();
  }
  return 0;
}

void TcpSocket::on_ready(PollMask mask) noexcept {
  const auto keep = Ref<TcpSocket>::share(*this);
  const bool broken = any(mask & PollMask::Disconnect);
  if (connecting_) return finish_connect();
  if (broken || any(mask & PollMask::Readable)) receive_some(watches_.spare_buffer());
  if (broken || any(mask & PollMask::Writable)) write_some();
}

void TcpSocket::finish_connect() noexcept {
  FERMATA_ASSERT(connecting_);
  int code = 0;
  socklen_t size = sizeof code;
  if (os::kernel.getsockopt(socket(), SOL_SOCKET, SO_ERROR, &code, &size) != 0) code = errno;
  if (code == 0 && os::peer_address_of(socket()) == Address()) return;  // Not yet.
  connecting_ = false;
  (void)update_watch();
  connected(code);
}

void TcpSocket::write_some() noexcept {
  for (int i = 0; i < kWritesPerTurn && !unwritten_.empty() && !is_closed(); ++i) {
    const ssize_t size =
        os::kernel.send(socket(), unwritten_.data(), unwritten_.size(), MSG_NOSIGNAL);
    const int code = size < 0 ? errno : 0;
    if (os::would_block(code)) return;
    FERMATA_ASSERT(size <= static_cast<ssize_t>(unwritten_.size()));
    if (size > 0) unwritten_ = unwritten_.subspan(static_cast<std::size_t>(size));
    if (code != 0) unwritten_ = {};
    if (unwritten_.empty()) write_done(code);
  }
  if (!is_closed()) (void)update_watch();
}

// --- TcpListener ---

TcpListener::TcpListener(Watches& watches, const Address& address, const ListenOptions& options)
    : SocketListener(watches.attachment(), os::listen_at(address, options), options),
      watches_(watches) {}

Address TcpListener::local_address() const { return os::local_address_of(descriptor()); }

Ref<backend::StreamHandle> TcpListener::adopt(int descriptor) {
  return Ref<backend::StreamHandle>::adopt(*new TcpSocket(watches_, descriptor));
}

void TcpListener::resume_accepting() { watches_.watch(*this, descriptor(), PollMask::Readable); }

void TcpListener::pause_accepting() noexcept { watches_.unwatch(*this, descriptor()); }

void TcpListener::close_backend() noexcept {
  watches_.unwatch(*this, descriptor());
  os::kernel.close(descriptor());
  close_acknowledged();
}

void TcpListener::on_ready(PollMask) noexcept {
  const auto keep = Ref<TcpListener>::share(*this);
  accept_some();
}

}  // namespace fermata::poll::detail
