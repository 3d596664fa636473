// SPDX-License-Identifier: Apache-2.0

// The same on Fermata: one coroutine a connection, written as users write it.

#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <span>
#include <utility>

#include "fermata/runtime.hpp"
#include "fermata/io/tcp.hpp"
#include "fermata/uv/reactor.hpp"

namespace {

constexpr unsigned kSecondsMax = 120;
constexpr int kBacklog = 1024;

void echo(fermata::TcpStream peer) {
  std::array<std::byte, 1024> buffer;
  try {
    while (const std::size_t size = peer.read(buffer)) peer.write(std::span(buffer).first(size));
  } catch (const fermata::InputOutputError&) {
    // The load has ended in the middle of an exchange.
  }
}

void serve() {
  auto listener = fermata::TcpListener::bind({"127.0.0.1", 0}, {.backlog = kBacklog});
  std::printf("%d\n", listener.local_address().port());
  std::fflush(stdout);
  while (auto peer = listener.accept()) {
    fermata::spawn("session", [peer = std::move(*peer)]() mutable { echo(std::move(peer)); });
  }
}

}  // namespace

int main() {
  alarm(kSecondsMax);
  fermata::Runtime runtime(fermata::uv::make_reactor());
  return runtime.run(serve);
}
