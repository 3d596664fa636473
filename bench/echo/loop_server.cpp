// SPDX-License-Identifier: Apache-2.0

// The same in callback style, on the driver that is named.
//
// usage: bench_loop_server DRIVER

#include <unistd.h>

#include <cstdio>
#include <string_view>

#include "fermata/runtime.hpp"
#include "fermata/drivers/factory.hpp"
#include "fermata/loop/tcp/server.hpp"

namespace {

constexpr unsigned kSecondsMax = 120;
constexpr int kBacklog = 1024;

void serve() {
  namespace loop = fermata::loop;
  loop::Loop events;
  const loop::TcpHandlers handlers = {
      .on_message = [](loop::TcpConnection& peer, std::string_view message) {
        peer.send(message);
      }};
  loop::TcpServerOptions options;
  options.listen.backlog = kBacklog;
  const loop::TcpServer server(events, {"127.0.0.1", 0}, handlers, options);
  std::printf("%d\n", server.local_address().port());
  std::fflush(stdout);
  events.run();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: bench_loop_server DRIVER\n");
    return 2;
  }
  alarm(kSecondsMax);
  fermata::Runtime runtime(fermata::loop::make_reactor(argv[1]));
  return runtime.run(serve);
}
