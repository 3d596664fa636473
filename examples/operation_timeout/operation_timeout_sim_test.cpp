// SPDX-License-Identifier: Apache-2.0

// Whatever the network does: each question is over once, in time, and leaves no timer behind.

#include <chrono>
#include <fermata/loop/tcp/server.hpp>
#include <fermata/sim.hpp>

#include "examples/operation_timeout/operation_timeout.hpp"

namespace {

using namespace std::chrono_literals;
using namespace fermata::loop;

SIM_TEST(OperationTimeout, EndsOnceAndLeavesNoTimer) {
  constexpr int kQuestions = 4;
  Loop loop;
  TcpHandlers handlers;
  handlers.on_message = [](TcpConnection& client, std::string_view question) {
    if (question != "silence") static_cast<void>(client.send("about " + std::string(question)));
  };
  TcpServerOptions options;
  options.connection.framing = [] { return std::make_unique<LineFraming>(); };
  TcpServer server(loop, {"127.0.0.1", 7800}, std::move(handlers), options);
  int over = 0;
  for (int i = 0; i < kQuestions; ++i) {
    const std::string question = i % 2 == 0 ? "ping" : "silence";
    ask(loop, server.local_address(), question, 2s, [&, question](std::optional<std::string> got) {
      if (got) {
        EXPECT_EQ(*got, "about " + question);
        EXPECT_NE(question, "silence");
      }
      if (++over == kQuestions) server.stop(1s);
    });
  }
  loop.run();
  EXPECT_EQ(over, kQuestions);
  EXPECT_EQ(loop.timer_count(), 0u);
  EXPECT_EQ(server.connection_count(), 0u);
}

}  // namespace
