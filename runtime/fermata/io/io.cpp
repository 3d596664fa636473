// SPDX-License-Identifier: Apache-2.0
#include "fermata/io/io.hpp"

#include <fmt/format.h>

#include "fermata/base/error.hpp"
#include "fermata/sync/operation.hpp"

namespace fermata {

namespace {

IoState state_of(const backend::StreamHandle& stream) {
  const bool open = !stream.is_closed();
  return {open, open && stream.is_readable(), open && stream.is_writable(), stream.at_end(), false};
}

IoState state_of(const backend::FileHandle& file) {
  const bool open = !file.is_closed();
  return {open, open && file.mode().read, open && file.mode().write, false, file.mode().append};
}

IoState state_of(const backend::DatagramHandle& socket) {
  const bool open = !socket.is_closed();
  return {open, open, open, false, false};
}

}  // namespace

Io::Io(UdpSocket socket, const Address& peer) : held_(Datagrams{std::move(socket), peer}) {
  if (peer.port() == 0) {
    throw UsageError(fmt::format("peer {}: port 0: expected 1 to 65535", peer.text()));
  }
}

std::size_t Io::Datagrams::read(std::span<std::byte> buffer, const WaitOptions& options,
                                SourcePlace place) {
  const detail::Deadline deadline(options);
  while (true) {
    const Datagram datagram = socket.receive(buffer, deadline.remaining(), place);
    if (datagram.peer == peer) return datagram.size;
  }
}

void Io::Datagrams::write(std::span<const std::byte> data, const WaitOptions& options,
                          SourcePlace place) {
  socket.send_to(data, peer, options, place);
}

std::size_t Io::read(std::span<std::byte> buffer, const WaitOptions& options, SourcePlace place) {
  return std::visit([&](auto& held) { return held.read(buffer, options, place); }, held_);
}

void Io::write(std::span<const std::byte> data, const WaitOptions& options, SourcePlace place) {
  std::visit([&](auto& held) { held.write(data, options, place); }, held_);
}

void Io::close() noexcept {
  std::visit([](auto& held) { held.close(); }, held_);
}

backend::IoHandle& Io::handle() const {
  return std::visit([](const auto& held) -> backend::IoHandle& { return held.handle(); }, held_);
}

IoState Io::state() const {
  return std::visit([](const auto& held) { return state_of(held.handle()); }, held_);
}

}  // namespace fermata
