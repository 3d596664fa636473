// SPDX-License-Identifier: Apache-2.0
#include "fermata/io/tcp.hpp"

#include <array>
#include <string>

#include "fermata/base/error.hpp"
#include "fermata/io/dns.hpp"
#include "fermata/io/request_wait.hpp"
#include "fermata/reactor/keep_alive.hpp"

namespace fermata {

TcpStream TcpStream::open(const Address& peer, const WaitOptions& options, const SourcePlace& place,
                          std::exception_ptr& error) {
  detail::check_token(options);
  backend::ConnectRequest request(current_runtime().reactor().streams(), peer);
  error = detail::end_of(request, options, place);
  return error ? TcpStream() : TcpStream(request.take(), place);
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

void TcpStream::set_keep_alive(std::optional<Duration> idle) {
  handle().set_option(backend::SocketOption::KeepAlive,
                      detail::keep_alive_seconds(idle, "set keep-alive"));
}

std::optional<Duration> TcpStream::keep_alive() const {
  const int seconds = handle().option(backend::SocketOption::KeepAlive);
  if (seconds == 0) return std::nullopt;
  return std::chrono::seconds(seconds);
}

bool TcpStream::close(const CloseOptions& options, SourcePlace place) {
  const WaitOptions limits{.timeout = options.linger};
  detail::check_token(limits);
  const detail::Deadline deadline(limits);
  if (!is_open()) return false;
  struct Closing {
    Ref<backend::StreamHandle> stream;  // The TcpStream may be gone meanwhile, or have another one.
    ~Closing() { stream->close(); }
  } const closing{Ref<backend::StreamHandle>::share(handle())};
  std::array<std::byte, 4096> dropped;
  try {
    closing.stream->shutdown_write();
    for (;;) {
      backend::ReadRequest request(*closing.stream, dropped);
      detail::finish(request, deadline.remaining(), place);
      if (request.take() == 0) return true;
    }
  } catch (const Timeout&) {
  } catch (const InputOutputError&) {  // The peer is gone, or somebody else has closed.
  }
  return false;
}

void TcpStream::reset() {
  if (is_open()) set_reset_on_close(true);
  close();
}

TcpListener TcpListener::bind(const Address& address, const ListenOptions& options,
                              SourcePlace place) {
  return TcpListener(current_runtime().reactor().streams().listen(address, options), place);
}

}  // namespace fermata
