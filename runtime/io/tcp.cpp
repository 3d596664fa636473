// SPDX-License-Identifier: Apache-2.0
#include "fermata/runtime/io/tcp.hpp"

#include <string>

#include "fermata/runtime/base/error.hpp"
#include "fermata/runtime/io/dns.hpp"
#include "fermata/runtime/io/request_wait.hpp"

namespace fermata {

TcpStream TcpStream::connect(const Address& peer, const WaitOptions& options, SourcePlace place) {
  detail::check_token(options);
  ConnectRequest request(current_runtime().reactor().streams(), peer);
  detail::finish(request, options, place);
  return TcpStream(request.take());
}

TcpStream TcpStream::connect(std::string_view host, std::uint16_t port, const WaitOptions& options,
                             SourcePlace place) {
  const detail::Deadline deadline(options);
  const auto addresses = resolve(host, std::to_string(port), options, place);
  for (std::size_t i = 0;; ++i) {
    try {
      return connect(addresses[i], deadline.remaining(), place);
    } catch (const InputOutputError&) {
      if (i + 1 == addresses.size()) throw;
    }
  }
}

TcpListener TcpListener::bind(const Address& address, const ListenOptions& options) {
  return TcpListener(current_runtime().reactor().streams().listen(address, options));
}

}  // namespace fermata
