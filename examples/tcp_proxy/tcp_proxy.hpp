// SPDX-License-Identifier: Apache-2.0
#pragma once

// A TCP proxy: what one side sends the other one gets, no sooner than it takes it; and when one
// side has said all, the other one may still answer.

#include <array>
#include <fermata/runtime.hpp>
#include <span>

namespace proxy {

/// Copies what `from` sends, up to its end, which is passed on. It reads nothing while `to` takes
/// nothing: so a slow receiver slows the sender down, and nothing piles up here. When one is lost
/// the other one gets a reset, and not an end, which would say that it has got everything.
inline void relay(fermata::TcpStream& from, fermata::TcpStream& to) {
  try {
    std::array<std::byte, 4096> buffer;
    while (const std::size_t size = from.read(buffer)) to.write(std::span(buffer).first(size));
    // The end of this way is not the end of the other one: the answer may still be to come.
    to.shutdown_write();
  } catch (...) {
    from.reset();
    to.reset();
    throw;
  }
}

/// Until both have said all.
inline void connect_both(fermata::TcpStream& client, fermata::TcpStream& server) {
  const auto answers = fermata::spawn("answers", [&] { relay(server, client); });
  try {
    relay(client, server);
    fermata::await(answers);
  } catch (...) {
    client.reset();
    server.reset();
    // The other way has both streams until it ends, and this one may be cancelled meanwhile.
    fermata::protect([&] {
      try {
        fermata::await(answers);
      } catch (...) {  // Why it has ended is not news.
      }
    });
    throw;
  }
}

/// Connects each client of `listener` with `server`, until it is closed.
inline void serve(fermata::TcpListener& listener, const fermata::Address& server) {
  while (auto accepted = listener.accept()) {
    accepted->set_reset_on_close(true);  // An end would say that this was all.
    fermata::spawn("conversation", [server, client = std::move(*accepted)]() mutable {
      try {
        auto upstream = fermata::TcpStream::connect(server);
        connect_both(client, upstream);
        client.set_reset_on_close(false);
      } catch (const fermata::InputOutputError&) {
      }
    });
  }
}

}  // namespace proxy
