// SPDX-License-Identifier: Apache-2.0

// The bank behind a proxy that drops all its connections again and again while money moves.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "examples/tcp_proxy/tcp_proxy.hpp"
#include "fermata/core/scope.hpp"
#include "tests/database/bank_load.hpp"

namespace fermata::database_test {
namespace {

using namespace std::chrono_literals;

constexpr int kDrops = 20;

std::vector<std::string> servers() {
  std::vector<std::string> names;
  for (const Arm& arm : arms()) {
    if (arm.name == "postgresql" || arm.name == "mariadb") names.push_back(arm.name);
  }
  return names;
}

/// `url`, at another port of the same machine.
std::string at_port(std::string url, std::uint16_t old_port, std::uint16_t port) {
  const std::string old_text = fmt::format(":{}/", old_port);
  return url.replace(url.rfind(old_text), old_text.size(), fmt::format(":{}/", port));
}

class DroppedConnection : public ::testing::TestWithParam<std::string> {};

TEST_P(DroppedConnection, EveryTransferIsMadeOnceAndThePoolRecovers) {
  in_runtime([] {
    const std::string& url = arm_named(GetParam()).url;
    const db::Target target = db::parse_url(url);
    const Address server(target.host, *target.port);
    auto listener = TcpListener::bind({"127.0.0.1", 0});
    const auto proxied_for = [&](Duration time) {
      Scope conversations("conversations");
      conversations.spawn("proxy", [&] { proxy::serve(listener, server); });
      delay(time);
      conversations.cancel();
      conversations.await_after_cancellation();
    };
    bool closing = false;
    const auto proxy = spawn("proxies", [&] {
      while (!closing) proxied_for(50ms + random(100) * 1ms);
    });
    BankLoad(at_port(url, server.port(), listener.local_address().port())).during([] {
      delay(kDrops * 100ms);
    });
    closing = true;
    await(proxy);
  });
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DroppedConnection);
INSTANTIATE_TEST_SUITE_P(Servers, DroppedConnection, ::testing::ValuesIn(servers()),
                         [](const auto& server) { return server.param; });

}  // namespace
}  // namespace fermata::database_test
