// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/report/network_text.hpp"

#include <gtest/gtest.h>
#include <fermata/io/udp.hpp>
#include <fermata/runtime.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <regex>
#include <string>

#include "tests/support/bytes.hpp"
#include "tests/support/watched_run.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;
using test::bytes_of;
using test::watched_run;

/// The port of a client is nobody's business.
std::string state_of(const RunLog& run_log, const Moment& moment = {}) {
  const std::string text = network_text(run_log, find_moment(run_log, moment));
  return std::regex_replace(text, std::regex(":[0-9]{5}\\b"), ":P");
}

std::string flows_at_the_end(const test::Body& body) {
  const std::string text = state_of(*watched_run(body).run_log);
  return text.substr(text.find('\n') + 1);
}

TEST(NetworkText, CountsTheBytesOfEachDirection) {
  EXPECT_EQ(flows_at_the_end(test::greet),
            "  main:P -> server:80  sent 5 bytes, arrived 5, lost 0, in flight 0  (closed)\n"
            "  server:80 -> main:P  sent 7 bytes, arrived 7, lost 0, in flight 0  (closed, "
            "not yet noticed)\n");
}

TEST(NetworkText, ShowsWhatIsInFlightAtATime) {
  const auto run_log = watched_run([](World& world) {
                         world.node("server", [] {
                           auto listener = TcpListener::bind({"0.0.0.0", 80});
                           auto peer = listener.accept();
                           std::array<std::byte, 4096> buffer;
                           while (peer->read(buffer) > 0) continue;
                         });
                         delay(1ms);
                         auto stream = TcpStream::connect(world.node("server").address(80));
                         delay(10ms);
                         world.way("main", "server").latency(Latency::fixed(5ms));
                         stream.write(std::string(1'204, 'x'));
                         delay(20ms);
                         stream.close();
                         world.run();
                       }).run_log;
  const Instant sent = [&] {
    for (const Message& message : run_log->message_log().messages()) {
      if (message.kind == Message::Kind::Data) return message.sent;
    }
    return Instant{};
  }();
  EXPECT_NE(
      state_of(*run_log, {.time = sent + 1ms})
          .find("  main:P -> server:80  sent 1,204 bytes, arrived 0, lost 0, in flight 1,204\n"),
      std::string::npos)
      << state_of(*run_log, {.time = sent + 1ms});
  EXPECT_NE(state_of(*run_log, {.time = sent + 6ms}).find("arrived 1,204, lost 0, in flight 0\n"),
            std::string::npos);
  EXPECT_NE(
      state_of(*run_log, {.time = sent + 1ms})
          .find("    in flight: \"xxxxxxxxxxxxxxxxxxxxxx...xxxxxxxxxx\" (1204 bytes), sent at "),
      std::string::npos);
  EXPECT_EQ(state_of(*run_log, {.step = 1}).find("server:80"), std::string::npos);
}

TEST(NetworkText, SaysWhatBecameOfAConnection) {
  EXPECT_EQ(flows_at_the_end(test::be_refused),
            "  main:P -> server:80  sent 0 bytes, arrived 0, lost 0, in flight 0  (refused)\n");
}

TEST(NetworkText, CountsDatagrams) {
  const std::string text = flows_at_the_end(test::scatter);
  EXPECT_NE(text.find("  udp main -> server:53  1 datagram  sent 3 bytes, arrived 3, lost 0, in "
                      "flight 0\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("  udp main -> server:54  1 datagram  sent 6 bytes, arrived 0, lost 6, in "
                      "flight 0\n"),
            std::string::npos)
      << text;
}

TEST(NetworkText, ShowsTheFirstOfWhatIsLost) {
  const std::string text = flows_at_the_end([](World& world) {
    world.node("server", [] { delay(1s); });
    world.way("main", "server").cut();
    UdpSocket socket = UdpSocket::bind({"0.0.0.0", 1234});
    for (int i = 0; i < 7; ++i) socket.send_to(bytes_of("hello"), world.node("server").address(53));
  });
  EXPECT_EQ(text.find("  udp main -> server:53  7 datagrams  sent 35 bytes, arrived 0, lost 35, in "
                      "flight 0\n    lost: \"hello\" (5 bytes), sent at +0 ms\n"),
            0u)
      << text;
  EXPECT_NE(text.find("\n    and 2 more\n"), std::string::npos) << text;
}

TEST(NetworkText, SaysWhenThereIsNothing) {
  EXPECT_EQ(state_of(*watched_run([](World&) {}).run_log),
            "connections at the end of the run, +0 ms: none\n");
}

}  // namespace
}  // namespace fermata::sim
