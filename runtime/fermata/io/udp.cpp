// SPDX-License-Identifier: Apache-2.0
#include "fermata/io/udp.hpp"

#include "fermata/io/request_wait.hpp"

namespace fermata {

UdpSocket UdpSocket::bind(const Address& address, const DatagramOptions& options,
                          SourcePlace place) {
  return UdpSocket(current_runtime().reactor().datagrams().bind(address, options), place);
}

void UdpSocket::send_to(std::span<const std::byte> data, const Address& peer,
                        const WaitOptions& options, SourcePlace place) {
  detail::check_token(options);
  if (handle().try_send(data, peer)) return;
  backend::SendRequest request(handle(), data, peer);
  detail::finish(request, options, place);
}

Datagram UdpSocket::receive(std::span<std::byte> buffer, const WaitOptions& options,
                            SourcePlace place) {
  detail::check_token(options);
  backend::ReceiveRequest request(handle(), buffer);
  detail::finish(request, options, place);
  return request.take();
}

}  // namespace fermata
