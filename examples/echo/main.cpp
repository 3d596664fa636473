// SPDX-License-Identifier: Apache-2.0

// Usage: example_echo [port]. Try it with `nc 127.0.0.1 7777`; SIGINT (Ctrl-C) stops it gracefully,
// a second one at once; SIGUSR1 lists its coroutines.

#include <csignal>
#include <cstdio>
#include <exception>
#include <string>

#include "examples/echo/echo.hpp"
#include "fermata/runtime.hpp"
#include "fermata/uv/reactor.hpp"

int main(int argc, char** argv) {
  try {
    const std::string port = argc > 1 ? argv[1] : "7777";
    fermata::Runtime runtime(fermata::uv::make_reactor(), {.name = "echo", .dump_signal = SIGUSR1});
    return runtime.run([&] {
      auto listener = fermata::TcpListener::bind(fermata::Address::parse("127.0.0.1:" + port));
      std::printf("echo listens at %s\n", listener.local_address().text().c_str());
      std::fflush(stdout);
      echo::serve(listener);
    });
  } catch (const std::exception& error) {
    std::fprintf(stderr, "echo: %s\n", error.what());
    return 1;
  }
}
