// SPDX-License-Identifier: Apache-2.0
#pragma once

// The code of docs/guide/from_asio.md, so that what the page shows is compiled and run.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fermata/runtime.hpp>
#include <span>
#include <string>
#include <utility>

namespace guide::from_asio {

using namespace std::chrono_literals;

/// Sends back what it reads, until the peer has nothing more to say.
inline void echo(fermata::TcpStream& peer) {
  std::array<std::byte, 1024> buffer;
  try {
    while (const std::size_t size = peer.read(buffer)) {
      peer.write(std::span(buffer).first(size));
    }
  } catch (const fermata::InputOutputError&) {  // The connection broke.
  }
}

inline void serve(fermata::TcpListener& listener) {
  while (auto peer = listener.accept()) {
    fermata::spawn("session", [peer = std::move(*peer)]() mutable { echo(peer); });
  }
}

inline void deadline(fermata::TcpStream& server) {
  std::array<std::byte, 16> buffer;
  try {
    server.read(buffer, {.timeout = 20ms});
  } catch (const fermata::Timeout&) {
    std::printf("no answer\n");
  }
}

inline void tour() {
  auto listener = fermata::TcpListener::bind({"127.0.0.1", 0});
  const std::uint16_t port = listener.local_address().port();
  fermata::Scope service("echo");  // Its end is the end of the server and of all sessions.
  service.spawn("server", [&listener] { serve(listener); });

  auto server = fermata::TcpStream::connect({"127.0.0.1", port});
  server.write("andante");
  std::string answer(7, ' ');
  server.read_exact(std::as_writable_bytes(std::span(answer)));
  std::printf("%s\n", answer.c_str());
  deadline(server);
}

}  // namespace guide::from_asio
