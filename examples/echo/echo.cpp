// SPDX-License-Identifier: Apache-2.0
#include "examples/echo/echo.hpp"

#include <array>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"

namespace echo {

void echo(fermata::TcpStream& peer) {
  std::array<std::byte, 1024> buffer;
  while (const std::size_t size = peer.read(buffer)) {
    peer.write(std::span(buffer).first(size));
  }
}

void serve(fermata::TcpListener& listener) {
  while (auto accepted = listener.accept()) {
    fermata::spawn("session", [peer = std::move(*accepted)]() mutable {
      try {
        echo(peer);
      } catch (const fermata::InputOutputError&) {
        // This peer is gone; the others are not concerned.
      }
    });
  }
}

}  // namespace echo
