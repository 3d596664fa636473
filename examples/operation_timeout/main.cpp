// SPDX-License-Identifier: Apache-2.0

// Usage: example_operation_timeout [--loop NAME]. Asks a server that answers, and then one that
// does not.

#include <chrono>
#include <cstdio>
#include <fermata/loop/tcp/server.hpp>

#include "examples/driver_flag.hpp"
#include "examples/operation_timeout/operation_timeout.hpp"

int main(int argc, char** argv) {
  using namespace std::chrono_literals;
  using namespace fermata::loop;
  const example::Usage usage{.program = "example_operation_timeout"};
  return example::run_on_driver(usage, argc, argv, [](example::Operands) {
    Loop loop;
    TcpHandlers handlers;
    handlers.on_message = [](TcpConnection& client, std::string_view question) {
      if (question == "ping") static_cast<void>(client.send("pong"));
    };
    TcpServerOptions options;
    options.connection.framing = [] { return std::make_unique<LineFraming>(); };
    TcpServer server(loop, {"127.0.0.1", 0}, std::move(handlers), options);
    const auto show = [](const std::optional<std::string>& answer) {
      std::printf("%s\n", answer ? answer->c_str() : "no answer");
    };
    ask(loop, server.local_address(), "ping", 5s, [&](std::optional<std::string> answer) {
      show(answer);
      ask(loop, server.local_address(), "silence", 50ms, [&](std::optional<std::string> none) {
        show(none);
        server.stop(1s);
      });
    });
    loop.run();
  });
}
