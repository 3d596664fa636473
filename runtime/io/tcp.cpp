// SPDX-License-Identifier: Apache-2.0
#include "fermata/runtime/io/tcp.hpp"

#include "fermata/runtime/io/request_wait.hpp"

namespace fermata {

TcpStream TcpStream::connect(const Address& peer, const WaitOptions& options, SourcePlace place) {
  detail::check_token(options);
  ConnectRequest request(current_runtime().reactor().streams(), peer);
  detail::finish(request, options, place);
  return TcpStream(request.take());
}

TcpListener TcpListener::bind(const Address& address, const ListenOptions& options) {
  return TcpListener(current_runtime().reactor().streams().listen(address, options));
}

}  // namespace fermata
