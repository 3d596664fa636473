// SPDX-License-Identifier: Apache-2.0
#include "fermata/uring/tcp.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::uring::detail {

namespace {

/// Completions that a receive may have while nobody reads, before it is cancelled.
constexpr std::uint8_t kUnreadMost = 4;

/// After a look that told fewer completions, writes leave at once, as fast as they can; after
/// others they are collected, which costs less for each.
constexpr unsigned kManyTold = 16;

/// An end of a receive that says nothing of the connection.
bool is_restart(int code) { return os::would_block(code) || code == ENOBUFS || code == ECANCELED; }

}  // namespace

// --- TcpSocket ---

TcpSocket::TcpSocket(Loop& loop, int descriptor)
    : SocketStream(loop.attachment(), backend::IoType::Tcp), loop_(loop) {
  (void)os::set_option(descriptor, backend::SocketOption::NoDelay, 1);
  set_socket(descriptor);
}

TcpSocket::~TcpSocket() { FERMATA_ASSERT(socket() < 0); }

void TcpSocket::connect(const Address& peer) {
  peer_ = std::make_unique<os::NativeAddress>(peer);
  loop_.ring().start(connect_, [&](io_uring_sqe* entry) {
    io_uring_prep_connect(entry, socket(), peer_->get(), peer_->size);
  });
}

void TcpSocket::on_connected(int result, std::uint32_t) noexcept {
  const auto keep = Ref<TcpSocket>::share(*this);
  peer_.reset();
  if (is_closed()) return finish_close();
  connected(-result);
}

// --- reading ---

int TcpSocket::start_reading() {
  reading_ = true;
  unread_ = 0;
  if (!receive_.is_in_flight()) start_receive();  // Else it goes on, or is started when it ends.
  return 0;
}

void TcpSocket::stop_reading() noexcept { reading_ = false; }

void TcpSocket::start_receive() noexcept {
  FERMATA_ASSERT(reading_ && !is_closed());
  loop_.ring().start(receive_, [&](io_uring_sqe* entry) {
    io_uring_prep_recv_multishot(entry, socket(), nullptr, 0, 0);
    entry->flags |= IOSQE_BUFFER_SELECT;
    entry->buf_group = ReceiveBuffers::kGroup;
  });
}

void TcpSocket::on_received(int result, std::uint32_t flags) noexcept {
  const auto keep = Ref<TcpSocket>::share(*this);
  if (!is_closed()) take_received(result, flags);
  loop_.receive_buffers().give_back(flags);
  if (is_closed()) return finish_close();
  if (receive_.is_in_flight()) {
    if (!reading_ && ++unread_ >= kUnreadMost) loop_.ring().cancel(receive_);
  } else if (reading_) {
    start_receive();
  }
}

void TcpSocket::take_received(int result, std::uint32_t flags) noexcept {
  if (result > 0) {
    received(loop_.receive_buffers().bytes(result, flags));
  } else if (result == 0) {
    received_end();
  } else if (!is_restart(-result)) {
    receive_failed(-result);
  }
}

// --- writing ---

std::span<const std::byte> TcpSocket::in_block() const noexcept {
  return std::span(block_->bytes).subspan(block_begin_, block_end_ - block_begin_);
}

backend::StreamHandle::Written TcpSocket::try_write(backend::Buffers buffers) {
  FERMATA_ASSERT(unwritten_.empty());
  if (send_.is_in_flight()) return {};  // The kernel does not take what is there already.
  const std::size_t size = backend::size_of(buffers);
  const bool calm = loop_.ring().told() < kManyTold;
  if (calm || block_end_ + size > sizeof(SendBlock::bytes)) {
    return block_ ? send_behind_block(buffers) : send_some(buffers);
  }
  collect(buffers);
  return {size, 0};
}

void TcpSocket::collect(backend::Buffers buffers) {
  if (!block_) block_ = loop_.send_blocks().take();
  for (const std::span<const std::byte> each : buffers) {
    std::copy(each.begin(), each.end(), block_->bytes.data() + block_end_);
    block_end_ = static_cast<std::uint16_t>(block_end_ + each.size());
  }
  FERMATA_ASSERT(block_begin_ < block_end_ && block_end_ <= sizeof(SendBlock::bytes));
  loop_.put_off(*this);
}

backend::StreamHandle::Written TcpSocket::send_behind_block(backend::Buffers buffers) {
  FERMATA_ASSERT(block_ != nullptr);
  std::size_t accepted = 0;
  while (block_ || !buffers.empty()) {
    os::GatheredSend batch;
    if (block_) batch.add(in_block());
    while (batch.room() > 0 && !buffers.empty()) {
      batch.add(buffers.front());
      buffers = buffers.subspan(1);
    }
    const ssize_t result = batch.send(socket(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (result < 0) return {accepted, os::would_block(errno) ? 0 : errno};
    auto left = static_cast<std::size_t>(result);
    FERMATA_ASSERT(left <= batch.size());
    const bool all = left == batch.size();
    if (block_) {
      const std::size_t of_block = std::min(left, in_block().size());
      left -= of_block;
      sent(of_block);
    }
    accepted += left;
    if (!all) break;
  }
  return {accepted, 0};
}

int TcpSocket::submit_write(std::span<const std::byte> data) {
  FERMATA_ASSERT(unwritten_.empty());
  FERMATA_ASSERT(!data.empty());
  unwritten_ = data;
  if (!send_.is_in_flight()) loop_.put_off(*this);
  return 0;
}

void TcpSocket::submit_shutdown() noexcept {
  FERMATA_ASSERT(unwritten_.empty());
  if (block_ && !send_.is_in_flight()) static_cast<void>(send_behind_block({}));
  shuts_ = block_ != nullptr;
  if (!shuts_) os::kernel.shutdown(socket(), SHUT_WR);
}

void TcpSocket::start() noexcept {
  const std::span<const std::byte> data = unsent();
  if (data.empty() || send_.is_in_flight()) return;  // It has left meanwhile, or leaves.
  loop_.ring().start(send_, [&](io_uring_sqe* entry) {
    io_uring_prep_send(entry, socket(), data.data(), data.size(), MSG_NOSIGNAL | MSG_WAITALL);
  });
}

void TcpSocket::on_sent(int result, std::uint32_t) noexcept {
  const auto keep = Ref<TcpSocket>::share(*this);
  const bool of_block = block_ != nullptr;
  if (is_closed() && !of_block) return finish_close();  // The bytes have gone with the handle.
  int code = 0;
  if (result >= 0) {
    sent(static_cast<std::size_t>(result));
  } else if (!os::would_block(-result)) {
    code = -result;
    drop_block();
    unwritten_ = {};
    shuts_ = false;
  }
  if (is_closed()) return block_ ? start() : finish_close();
  if (code != 0 || (!of_block && unwritten_.empty())) write_done(code);
  if (is_closed() || send_.is_in_flight()) return;
  if (!unsent().empty()) {
    start();
  } else if (std::exchange(shuts_, false)) {
    os::kernel.shutdown(socket(), SHUT_WR);
  }
}

void TcpSocket::sent(std::size_t size) noexcept {
  if (!block_) {
    FERMATA_ASSERT(size <= unwritten_.size());
    unwritten_ = unwritten_.subspan(size);
    return;
  }
  FERMATA_ASSERT(size <= in_block().size());
  block_begin_ = static_cast<std::uint16_t>(block_begin_ + size);
  if (block_begin_ == block_end_) drop_block();
}

void TcpSocket::drop_block() noexcept {
  if (!block_) return;
  loop_.send_blocks().give_back(std::move(block_));
  block_begin_ = 0;
  block_end_ = 0;
}

// --- closing ---

void TcpSocket::close_backend() noexcept {
  loop_.forget(*this);
  unwritten_ = {};
  if (send_.is_in_flight()) {
    if (!block_) loop_.ring().cancel(send_);
  } else if (block_) {
    if (send_behind_block({}).code != 0) drop_block();
    if (block_) start();
  }
  loop_.ring().cancel(receive_);
  loop_.ring().cancel(connect_);
  finish_close();
}

/// The last part of it, once no operation is in flight.
void TcpSocket::finish_close() noexcept {
  FERMATA_ASSERT(is_closed());
  if (receive_.is_in_flight() || send_.is_in_flight() || connect_.is_in_flight()) return;
  os::kernel.close(release_socket());
  close_acknowledged();
}

// --- TcpListener ---

TcpListener::TcpListener(Loop& loop, const Address& address, const ListenOptions& options)
    : SocketListener(loop.attachment(), os::listen_at(address, options), options), loop_(loop) {}

Address TcpListener::local_address() const { return os::local_address_of(descriptor()); }

Ref<backend::StreamHandle> TcpListener::adopt(int descriptor) {
  return Ref<backend::StreamHandle>::adopt(*new TcpSocket(loop_, descriptor));
}

void TcpListener::resume_accepting() {
  if (accept_.is_in_flight()) return;  // It is started again when it ends.
  loop_.ring().start(accept_, [&](io_uring_sqe* entry) {
    io_uring_prep_multishot_accept(entry, descriptor(), nullptr, nullptr,
                                   SOCK_NONBLOCK | SOCK_CLOEXEC);
  });
}

void TcpListener::pause_accepting() noexcept { loop_.ring().cancel(accept_); }

void TcpListener::on_accepted(int result, std::uint32_t) noexcept {
  const auto keep = Ref<TcpListener>::share(*this);
  if (is_closed()) {
    if (result >= 0) os::kernel.close(result);
    return finish_close();
  }
  if (result >= 0) {
    take(result);
  } else if (result != -ECANCELED) {
    accept_failed(-result);
  }
  if (!is_closed() && is_accepting() && !accept_.is_in_flight()) resume_accepting();
}

void TcpListener::close_backend() noexcept {
  os::kernel.shutdown(descriptor(), SHUT_RDWR);  // Nobody can connect from now on.
  loop_.ring().cancel(accept_);
  finish_close();
}

void TcpListener::finish_close() noexcept {
  if (accept_.is_in_flight()) return;
  os::kernel.close(descriptor());
  close_acknowledged();
}

}  // namespace fermata::uring::detail
