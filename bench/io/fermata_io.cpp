// SPDX-License-Identifier: Apache-2.0

// The same on Fermata, written as users write it. Usage as that of libuv_io.c.

#include <signal.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <string_view>
#include <utility>

#include "bench/io/common.h"
#include "fermata/runtime.hpp"
#include "fermata/uv/reactor.hpp"

namespace {

double send_file(const char* path, long bytes) {
  unsigned short port = 0;
  pthread_t reader;
  int listener = listening_socket(&port);
  fill_file(path, bytes);
  pthread_create(&reader, nullptr, drain, &listener);
  auto stream = fermata::TcpStream::connect({"127.0.0.1", port});
  const double begin = seconds_now();
  auto file = fermata::File::open(path);
  require(stream.send_file(file) == static_cast<std::uint64_t>(bytes), "send_file");
  stream.close();
  pthread_join(reader, nullptr);
  return static_cast<double>(bytes) / (seconds_now() - begin);
}

double connect_and_close(long count) {
  auto listener = fermata::TcpListener::bind({"127.0.0.1", 0}, {.backlog = kBacklog});
  const fermata::Address server = listener.local_address();
  fermata::Scope service("server");
  service.spawn("server", [&] {
    while (auto peer = listener.accept()) continue;
  });
  const double begin = seconds_now();
  for (long i = 0; i < count; ++i) fermata::TcpStream::connect(server).reset();
  const double rate = static_cast<double>(count) / (seconds_now() - begin);
  listener.close();
  return rate;
}

double idle_connection(long count) {
  allow_descriptors();
  auto listener = fermata::TcpListener::bind({"127.0.0.1", 0}, {.backlog = kBacklog});
  const pid_t clients = hold_connections(listener.local_address().port(), count);
  const double before = resident_bytes();
  for (long i = 0; i < count; ++i) {
    fermata::spawn("session", [peer = std::move(*listener.accept())]() mutable {
      std::array<std::byte, 1024> buffer;
      while (peer.read(buffer) > 0) continue;
    });
  }
  fermata::delay(std::chrono::milliseconds(50));  // The last ones have begun to read.
  const double after = resident_bytes();
  kill(clients, SIGKILL);
  std::printf("%.1f\n", (after - before) / static_cast<double>(count));
  std::fflush(stdout);
  _exit(0);  // Unwinding what was measured proves nothing.
}

}  // namespace

int main(int argc, char** argv) {
  alarm(kSecondsMax);
  const std::string_view what = argc > 1 ? argv[1] : "";
  fermata::Runtime runtime(fermata::uv::make_reactor());
  return runtime.run([&] {
    double value = 0;
    if (argc == 4 && what == "send_file") {
      value = send_file(argv[2], std::atol(argv[3]));
    } else if (argc == 3 && what == "connect") {
      value = connect_and_close(std::atol(argv[2]));
    } else if (argc == 3 && what == "idle_connection") {
      value = idle_connection(std::atol(argv[2]));
    } else {
      return 2;
    }
    std::printf("%.1f\n", value);
    return 0;
  });
}
