// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/io/udp.hpp"
#include "fermata/sync/await.hpp"
#include "tests/conformance/main_typed_test.hpp"
#include "tests/conformance/transports.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/error_of.hpp"

namespace fermata::conformance {
namespace {

using namespace std::chrono_literals;
using test::error_of;

template <class Arm>
class SocketOptions : public ::testing::Test {};
TYPED_TEST_SUITE(SocketOptions, Arms);

/// How many bytes `stream` takes while nobody reads at the other end.
std::size_t taken_unread(TcpStream& stream) {
  const std::string part(1000, 'x');
  std::size_t taken = 0;
  try {
    while (true) taken += stream.write_some(std::as_bytes(std::span(part)), {.timeout = 50ms});
  } catch (const Timeout&) {
    return taken;
  }
}

MAIN_TYPED_TEST(SocketOptions, AreRemembered) {
  Connected<OverTcp> pair;
  for (TcpStream* stream : {&*pair.client, &*pair.server}) {
    EXPECT_TRUE(stream->no_delay());
    stream->set_no_delay(false);
    EXPECT_FALSE(stream->no_delay());
    EXPECT_EQ(stream->keep_alive(), std::nullopt);
    stream->set_keep_alive(40s);
    EXPECT_EQ(stream->keep_alive(), 40s);
    stream->set_keep_alive(std::nullopt);
    EXPECT_EQ(stream->keep_alive(), std::nullopt);
    stream->set_send_buffer(10'000);
    EXPECT_GE(stream->send_buffer(), 10'000);
    EXPECT_LE(stream->send_buffer(), 20'000);
    stream->set_receive_buffer(10'000);
    EXPECT_GE(stream->receive_buffer(), 10'000);
    EXPECT_LE(stream->receive_buffer(), 20'000);
    EXPECT_FALSE(stream->reset_on_close());
    stream->set_reset_on_close(true);
    EXPECT_TRUE(stream->reset_on_close());
    stream->set_reset_on_close(false);
    EXPECT_FALSE(stream->reset_on_close());
  }
}

MAIN_TYPED_TEST(SocketOptions, ThatMakeNoSenseAreRefused) {
  Connected<OverTcp> pair;
  EXPECT_EQ(error_of([&] { pair.client->set_send_buffer(0); }),
            "set send-buffer: 0: expected 1 to 1073741823");
  EXPECT_EQ(error_of([&] { pair.client->set_receive_buffer(-1); }),
            "set receive-buffer: -1: expected 1 to 1073741823");
  const std::string range = "expected whole seconds, 1 to 32767";
  EXPECT_EQ(error_of([&] { pair.client->set_keep_alive(0s); }), "set keep-alive: 0 ns: " + range);
  EXPECT_EQ(error_of([&] { pair.client->set_keep_alive(1500ms); }),
            "set keep-alive: 1500000000 ns: " + range);
  EXPECT_EQ(error_of([&] { pair.client->set_keep_alive(40'000s); }),
            "set keep-alive: 40000000000000 ns: " + range);
  EXPECT_EQ(error_of([] {
              (void)TcpListener::bind({"127.0.0.1", 0}, {.backlog = 0});
            }),
            "listen at 127.0.0.1:0: backlog 0, accepts_per_turn 64: expected at least 1 of each");
  EXPECT_EQ(error_of([] {
              (void)UdpSocket::bind({"127.0.0.1", 0}, {.ttl = 0});
            }),
            "bind 127.0.0.1:0: ttl 0: expected 1 to 255");
}

MAIN_TYPED_TEST(SocketOptions, OfClosedAndOtherHandlesAreRefused) {
  FERMATA_CHECKS("IO-06");
  Connected<OverTcp> pair;
  pair.client->close();
  EXPECT_EQ(error_of([&] { pair.client->set_no_delay(true); }), "set no-delay of closed IO handle");
  EXPECT_EQ(error_of([&] { (void)pair.client->send_buffer(); }),
            "get send-buffer of closed IO handle");
  PipeEnds ends = open_pipe();
  EXPECT_EQ(error_of([&] { ends.writer.handle().set_option(backend::SocketOption::NoDelay, 1); }),
            "set no-delay: Protocol not available");
  UdpSocket socket = UdpSocket::bind({"127.0.0.1", 0});
  EXPECT_EQ(error_of([&] { (void)socket.handle().option(backend::SocketOption::KeepAlive); }),
            "get keep-alive: Protocol not available");
}

MAIN_TYPED_TEST(SocketOptions, BuffersBoundWhatIsTakenAheadOfTheReader) {
  Connected<OverTcp> usual;
  Connected<OverTcp> small;
  small.client->set_send_buffer(5000);
  small.server->set_receive_buffer(5000);
  const std::size_t less = taken_unread(*small.client);
  EXPECT_GE(less, 5000u);
  EXPECT_LT(less, taken_unread(*usual.client));
}

MAIN_TYPED_TEST(SocketOptions, ALargerBufferLetsAParkedWriterGoOn) {
  Connected<OverTcp> pair;
  pair.client->set_send_buffer(5000);
  pair.server->set_receive_buffer(5000);
  const std::size_t before = taken_unread(*pair.client);
  EXPECT_GE(before, 5000u);
  pair.client->set_send_buffer(200'000);
  EXPECT_GE(taken_unread(*pair.client), 50'000u);
}

MAIN_TYPED_TEST(SocketOptions, AResetBreaksTheConnectionForThePeer) {
  Connected<OverTcp> pair;
  auto reader = spawn("reader", [&] {
    return error_of([&] {
      std::byte byte{};
      (void)pair.server->read({&byte, 1});
    });
  });
  suspend();
  pair.client->reset();
  EXPECT_FALSE(pair.client->is_open());
  EXPECT_EQ(await(reader), "read: Connection reset by peer");
  pair.client->reset();
}

MAIN_TYPED_TEST(SocketOptions, ResetOnCloseHoldsForTheDestructor) {
  Connected<OverTcp> pair;
  pair.client->set_reset_on_close(true);
  pair.client.reset();
  std::byte byte{};
  EXPECT_EQ(error_of([&] {
              (void)pair.server->read({&byte, 1});
            }),
            "read: Connection reset by peer");
}

MAIN_TYPED_TEST(SocketOptions, ASmallBudgetAcceptsEverybodyInTheEnd) {
  FERMATA_CHECKS("LIS-02");
  auto listener = OverTcp::listen({.accepts_per_turn = 1});
  const Address place = listener.local_address();
  std::vector<Coroutine<>> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(spawn("client", [place, i] {
      auto stream = TcpStream::connect(place);
      stream.write(std::string(1, static_cast<char>('a' + i)));
    }));
  }
  std::string heard;
  for (int i = 0; i < 20; ++i) {
    auto peer = listener.accept();
    std::string byte(1, '\0');
    peer->read_exact(std::as_writable_bytes(std::span(byte)));
    heard += byte;
  }
  std::sort(heard.begin(), heard.end());
  EXPECT_EQ(heard, "abcdefghijklmnopqrst");
  for (const auto& each : clients) await(each);
}

MAIN_TYPED_TEST(SocketOptions, AFullReceiveBufferLosesDatagrams) {
  UdpSocket reader = UdpSocket::bind({"127.0.0.1", 0}, {.ttl = 3});
  UdpSocket writer = UdpSocket::bind({"127.0.0.1", 0});
  reader.set_receive_buffer(8000);
  EXPECT_GE(reader.receive_buffer(), 8000);
  writer.set_send_buffer(50'000);
  EXPECT_GE(writer.send_buffer(), 50'000);
  const std::string text(1000, 'x');
  for (int i = 0; i < 100; ++i) writer.send_to(text, reader.local_address());
  int received = 0;
  try {
    std::vector<std::byte> buffer(2000);
    for (;; ++received) (void)reader.receive(buffer, {.timeout = 20ms});
  } catch (const Timeout&) {
  }
  EXPECT_GE(received, 1);
  EXPECT_LT(received, 50);
}

}  // namespace
}  // namespace fermata::conformance
