// SPDX-License-Identifier: Apache-2.0

// A program on Boost.Asio, an echo server in its usual manner, with a Fermata coroutine inside: the
// client of that server, in the same thread.

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <cstdio>
#include <exception>
#include <memory>
#include <span>
#include <string>

#include "fermata/runtime.hpp"
#include "fermata/host/asio.hpp"

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

/// Sends back what it reads, until the peer has nothing more to say.
class Session : public std::enable_shared_from_this<Session> {
 public:
  explicit Session(tcp::socket socket) : socket_(std::move(socket)) {}

  void read() {
    socket_.async_read_some(asio::buffer(buffer_),
                            [self = shared_from_this()](auto error, std::size_t size) {
                              if (!error) self->write(size);
                            });
  }

 private:
  void write(std::size_t size) {
    asio::async_write(socket_, asio::buffer(buffer_, size),
                      [self = shared_from_this()](auto error, std::size_t) {
                        if (!error) self->read();
                      });
  }

  tcp::socket socket_;
  std::array<char, 1024> buffer_;
};

/// In blocking manner, though nothing blocks.
void converse(std::uint16_t port) {
  auto server = fermata::TcpStream::connect({"127.0.0.1", port});
  for (const std::string word : {"andante", "allegro", "presto"}) {
    server.write(word);
    std::string echo(word.size(), ' ');
    server.read_exact(std::as_writable_bytes(std::span(echo)));
    std::printf("%s\n", echo.c_str());
  }
}

}  // namespace

int main() {
  try {
    asio::io_context context;
    tcp::acceptor acceptor(context, {asio::ip::address_v4::loopback(), 0});
    acceptor.async_accept([](auto error, tcp::socket socket) {
      if (!error) std::make_shared<Session>(std::move(socket))->read();
    });

    fermata::host::AsioGuest guest(context);
    guest.spawn("client", [port = acceptor.local_endpoint().port()] { converse(port); });
    context.run();
    if (guest.error()) std::rethrow_exception(guest.error());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "asio_host: %s\n", error.what());
    return 1;
  }
}
