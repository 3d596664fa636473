// SPDX-License-Identifier: Apache-2.0

// The same on Fermata: one coroutine a connection, written as users write it.
//
// usage: bench_fermata_server [uring | uring-refusal]
//
// On libuv; with `uring` on io_uring. `uring-refusal` prints why that cannot be, or nothing.

#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "fermata/runtime.hpp"
#include "fermata/io/tcp.hpp"
#include "fermata/uv/reactor.hpp"
#ifdef FERMATA_BENCH_URING
#include "fermata/uring/reactor.hpp"
#endif

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

std::string uring_refusal() {
#ifdef FERMATA_BENCH_URING
  return fermata::uring::refusal();
#else
  return "built without liburing";
#endif
}

std::unique_ptr<fermata::backend::Reactor> make_reactor(std::string_view kind) {
#ifdef FERMATA_BENCH_URING
  if (kind == "uring") return fermata::uring::make_reactor();
#endif
  static_cast<void>(kind);
  return fermata::uv::make_reactor();
}

}  // namespace

int main(int argument_count, char** arguments) {
  const std::string_view kind = argument_count > 1 ? arguments[1] : "uv";
  if (kind == "uring-refusal") return std::printf("%s\n", uring_refusal().c_str()) < 0 ? 1 : 0;
  alarm(kSecondsMax);
  fermata::Runtime runtime(make_reactor(kind));
  return runtime.run(serve);
}
