// SPDX-License-Identifier: Apache-2.0
#pragma once

// One question to a server, and a limit to the time that the answer may take: a timer ends the
// connection, and success deletes the timer.

#include <fermata/runtime.hpp>
#include <fermata/loop/tcp/connection.hpp>
#include <fermata/loop/timer.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

/// Asks the server at `address` and calls `done` once: with its answer of one line, or with nothing
/// when there is none within `limit`.
inline void ask(fermata::loop::Loop& loop, const fermata::Address& address,
                const std::string& question, fermata::Duration limit,
                std::function<void(std::optional<std::string>)> done) {
  using fermata::loop::TcpConnection;
  struct Operation {
    std::function<void(std::optional<std::string>)> done;
    std::optional<std::string> answer;
    fermata::loop::TimerId timer = 0;
  };
  auto operation = std::make_shared<Operation>();
  operation->done = std::move(done);

  fermata::loop::TcpHandlers handlers;
  handlers.on_message = [operation](TcpConnection& server, std::string_view line) {
    operation->answer = line;
    server.destroy();
  };
  handlers.on_close = [operation](TcpConnection&) {
    fermata::loop::Timer::del(operation->timer);
    operation->done(operation->answer);
  };
  fermata::loop::TcpClientOptions options;
  options.framing = [] { return std::make_unique<fermata::loop::LineFraming>(); };
  const auto server = TcpConnection::connect(loop, address, std::move(handlers), options);
  static_cast<void>(server->send(question));
  operation->timer = fermata::loop::Timer::delay(limit, [server] { server->destroy(); });
}
