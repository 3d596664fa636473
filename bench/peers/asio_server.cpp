// SPDX-License-Identifier: Apache-2.0

// The echo server on C++20 coroutines of Boost.Asio: one a connection.

#include "bench/peers/asio.hpp"

#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <cstddef>
#include <cstdio>
#include <utility>

namespace {

using peers::Awaitable;
using peers::use_awaitable;
namespace asio = peers::asio;
using Tcp = asio::ip::tcp;
using Socket = asio::basic_stream_socket<Tcp, peers::Executor>;
using Acceptor = asio::basic_socket_acceptor<Tcp, peers::Executor>;

constexpr unsigned kSecondsMax = 120;
constexpr int kBacklog = 1024;

Awaitable<> echo(Socket peer) {
  std::array<std::byte, 1024> buffer;
  try {
    for (;;) {
      const std::size_t size = co_await peer.async_read_some(asio::buffer(buffer), use_awaitable);
      co_await asio::async_write(peer, asio::buffer(buffer, size), use_awaitable);
    }
  } catch (const boost::system::system_error&) {
    // The load has gone.
  }
}

Awaitable<> serve(peers::Executor executor) {
  Acceptor acceptor(executor, Tcp::v4());
  acceptor.bind({asio::ip::address_v4::loopback(), 0});
  acceptor.listen(kBacklog);
  std::printf("%d\n", acceptor.local_endpoint().port());
  std::fflush(stdout);
  for (;;) {
    Socket peer = co_await acceptor.async_accept(use_awaitable);
    peer.set_option(Tcp::no_delay(true));
    asio::co_spawn(executor, echo(std::move(peer)), asio::detached);
  }
}

}  // namespace

int main() {
  alarm(kSecondsMax);
  asio::io_context context(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE);
  asio::co_spawn(context.get_executor(), serve(context.get_executor()), asio::detached);
  context.run();
}
