// SPDX-License-Identifier: Apache-2.0
#include "fermata/uv/datagrams.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/os/socket_address.hpp"
#include "fermata/uv/buffer.hpp"

namespace fermata::uv::detail {

namespace {

bool is_known(backend::SocketOption option) {
  return option == backend::SocketOption::SendBuffer ||
         option == backend::SocketOption::ReceiveBuffer;
}

}  // namespace

DatagramSocket::DatagramSocket(Loop& loop, const Address& multicast_interface)
    : backend::DatagramHandle(loop.attachment()),
      loop_(loop),
      multicast_interface_(multicast_interface) {
  check(uv_udp_init(loop.get(), &udp_), "create a socket");
  udp_.data = send_.data = this;
}

void DatagramSocket::bind(const Address& address, const DatagramOptions& options) {
  const os::NativeAddress native(address);
  const unsigned flags = options.reuse_address ? UV_UDP_REUSEADDR : 0;
  const std::string operation = fmt::format("bind {}", address.text());
  check(uv_udp_bind(&udp_, native.get(), flags), operation);
  check(uv_udp_set_ttl(&udp_, options.ttl), operation);
  check(uv_udp_set_broadcast(&udp_, options.broadcast ? 1 : 0), operation);
  check(uv_udp_set_multicast_loop(&udp_, options.multicast_loop ? 1 : 0), operation);
  check(uv_udp_set_multicast_ttl(&udp_, options.multicast_ttl), operation);
  if (!multicast_interface_.is_any()) {
    check(uv_udp_set_multicast_interface(&udp_, multicast_interface_.ip_text().c_str()), operation);
  }
  // Without this Linux delivers what is sent to groups that others on the machine have joined.
  const int off = 0;
  setsockopt(descriptor(), IPPROTO_IP, IP_MULTICAST_ALL, &off, sizeof off);
}

Address DatagramSocket::local_address() const { return os::local_address_of(descriptor()); }

int DatagramSocket::descriptor() const noexcept {
  uv_os_fd_t descriptor = -1;
  uv_fileno(reinterpret_cast<const uv_handle_t*>(&udp_), &descriptor);
  return descriptor;
}

int DatagramSocket::apply_option(backend::SocketOption option, int value) {
  return is_known(option) ? os::set_option(descriptor(), option, value) : ENOPROTOOPT;
}

int DatagramSocket::read_option(backend::SocketOption option, int& value) const {
  return is_known(option) ? os::get_option(descriptor(), option, value) : ENOPROTOOPT;
}

// --- receiving ---

void DatagramSocket::provide_buffer(uv_handle_t* handle, std::size_t, uv_buf_t* buffer) noexcept {
  DatagramSocket& socket = self(handle->data);
  FERMATA_ASSERT(!socket.providing_);
  socket.providing_ = true;
  socket.loop_.begin_callback();
  socket.providing_ = false;
  // It has room for any datagram: what a reader has no room for must not be lost before the reader
  // has taken it.
  *buffer = buffer_of(socket.loop_.spare_buffer());
}

void DatagramSocket::on_receive(uv_udp_t* handle, ssize_t size, const uv_buf_t* buffer,
                                const sockaddr* peer, unsigned) noexcept {
  DatagramSocket& socket = self(handle->data);
  if (socket.is_closed()) {
    if (uv_is_closing(reinterpret_cast<uv_handle_t*>(handle)) == 0) socket.close_backend();
  } else if (size < 0) {
    socket.receive_failed(static_cast<int>(-size));
  } else if (peer != nullptr) {  // Else there was nothing to read.
    FERMATA_ASSERT(static_cast<std::size_t>(size) <= buffer->len);
    socket.received(
        {reinterpret_cast<const std::byte*>(buffer->base), static_cast<std::size_t>(size)},
        os::from_native(*peer));
  }
}

int DatagramSocket::start_receiving() {
  FERMATA_ASSERT(!is_closed());
  loop_.watch(*this);
  return -uv_udp_recv_start(&udp_, provide_buffer, on_receive);
}

void DatagramSocket::stop_receiving() noexcept {
  loop_.unwatch(*this);
  uv_udp_recv_stop(&udp_);
}

// --- sending ---

int DatagramSocket::send_now(std::span<const std::byte> data, const Address& peer) {
  const uv_buf_t buffer = buffer_of(data);
  const os::NativeAddress native(peer);
  const int sent = uv_udp_try_send(&udp_, &buffer, 1, native.get());
  return sent < 0 ? -sent : 0;
}

int DatagramSocket::submit_send(std::span<const std::byte> data, const Address& peer) {
  FERMATA_ASSERT(!is_closed());
  const uv_buf_t buffer = buffer_of(data);
  const os::NativeAddress native(peer);
  return -uv_udp_send(
      &send_, &udp_, &buffer, 1, native.get(), [](uv_udp_send_t* request, int status) noexcept {
        DatagramSocket& socket = self(request->data);
        socket.loop_.complete(
            [keep = Ref<DatagramSocket>::share(socket), status] { keep->send_done(-status); });
      });
}

// --- groups, closing ---

int DatagramSocket::set_membership(const Address& group, bool member) {
  return -uv_udp_set_membership(&udp_, group.ip_text().c_str(),
                                multicast_interface_.ip_text().c_str(),
                                member ? UV_JOIN_GROUP : UV_LEAVE_GROUP);
}

void DatagramSocket::close_backend() noexcept {
  if (providing_) return;  // on_receive follows at once and comes back here.
  FERMATA_ASSERT(is_closed());
  FERMATA_ASSERT(uv_is_closing(reinterpret_cast<uv_handle_t*>(&udp_)) == 0);
  loop_.unwatch(*this);
  uv_close(reinterpret_cast<uv_handle_t*>(&udp_), [](uv_handle_t* handle) noexcept {
    DatagramSocket& socket = self(handle->data);
    socket.loop_.complete([&socket] { socket.close_acknowledged(); });
  });
}

// --- Datagrams ---

Ref<backend::DatagramHandle> Datagrams::open(const Address& address,
                                             const DatagramOptions& options) {
  auto socket = Ref<DatagramSocket>::adopt(*new DatagramSocket(loop_, options.multicast_interface));
  socket->bind(address, options);
  return Ref<backend::DatagramHandle>::adopt(*socket.detach());
}

}  // namespace fermata::uv::detail
