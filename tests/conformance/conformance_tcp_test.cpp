// SPDX-License-Identifier: Apache-2.0

// What only TCP has; what all connections do is in the bodies about streams and listeners.

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <string>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sim/waits/explain.hpp"
#include "fermata/sync/await.hpp"
#include "tests/conformance/main_typed_test.hpp"
#include "tests/conformance/reading.hpp"
#include "tests/conformance/transports.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/error_of.hpp"

namespace fermata::conformance {
namespace {

using namespace std::chrono_literals;
using test::error_of;

template <class Arm>
class Tcp : public ::testing::Test {};
TYPED_TEST_SUITE(Tcp, PollableArms);

MAIN_TYPED_TEST(Tcp, BothEndsKnowBothAddresses) {
  const Connected<OverTcp> pair;
  EXPECT_EQ(pair.client->peer_address(), pair.server->local_address());
  EXPECT_EQ(pair.client->local_address(), pair.server->peer_address());
}

MAIN_TYPED_TEST(Tcp, ARefusedConnectionSaysWhere) {
  TcpListener listener = OverTcp::listen();
  const Address address = listener.local_address();
  listener.close();
  delay(10ms);
  try {
    (void)TcpStream::connect(address);
    ADD_FAILURE() << "expected an error";
  } catch (const InputOutputError& error) {
    EXPECT_EQ(error.code(), ECONNREFUSED);
    EXPECT_EQ(error.what(), "connect to " + address.text() + ": Connection refused");
  }
}

MAIN_TYPED_TEST(Tcp, TellsThePortThatWasChosen) {
  const TcpListener listener = OverTcp::listen();
  EXPECT_NE(listener.local_address().port(), 0);
  EXPECT_EQ(listener.local_address().ip_text(), "127.0.0.1");
}

MAIN_TYPED_TEST(Tcp, AnAddressInUseIsRefused) {
  const TcpListener listener = OverTcp::listen();
  try {
    (void)TcpListener::bind(listener.local_address());
    ADD_FAILURE() << "expected an error";
  } catch (const InputOutputError& error) {
    EXPECT_EQ(error.code(), EADDRINUSE);
    EXPECT_EQ(error.what(),
              "listen at " + listener.local_address().text() + ": Address already in use");
  }
}

MAIN_TYPED_TEST(Tcp, AnExactReadThatMeetsAResetLeavesWhatItHad) {
  FERMATA_CHECKS("IO-02");
  Connected<OverTcp> pair;
  auto reader = spawn("reader", [&] { return error_of([&] { read_exactly(*pair.server, 8); }); });
  pair.client->write("abc");
  delay(10ms);
  pair.client->reset();
  EXPECT_EQ(await(reader), "read: Connection reset by peer");
  EXPECT_EQ(read_text(*pair.server), "abc");
  EXPECT_EQ(error_of([&] { read_text(*pair.server); }), "read: Connection reset by peer");
}

/// What comes until the end of the stream, or until it breaks.
struct Received {
  std::size_t bytes = 0;
  int code = 0;  // Of what broke it.
};

Received receive_all(TcpStream& stream) {
  Received all;
  std::array<std::byte, 4096> piece;
  try {
    while (const std::size_t size = stream.read(piece)) all.bytes += size;
  } catch (const InputOutputError& error) {
    all.code = error.code();
  }
  return all;
}

/// More than the buffers of any reactor take.
const std::string kMuch(std::size_t{8} << 20, 'x');

MAIN_TYPED_TEST(Tcp, ACloseWithUnreadBytesBreaksOffWhatIsNotSentYet) {
  Connected<OverTcp> pair;
  pair.client->write("unread");
  delay(1ms);
  const std::size_t accepted = pair.server->write_some(std::as_bytes(std::span(kMuch)));
  pair.server->close();
  delay(1ms);
  const Received got = receive_all(*pair.client);
  EXPECT_LT(got.bytes, accepted);
  EXPECT_EQ(got.code, ECONNRESET);
}

MAIN_TYPED_TEST(Tcp, ACloseThatLingersLosesNothingThoughThePeerSends) {
  Connected<OverTcp> pair;
  pair.client->write("unread");
  delay(1ms);
  const std::size_t accepted = pair.server->write_some(std::as_bytes(std::span(kMuch)));
  Received got;
  auto client = spawn("client", [&] {
    got = receive_all(*pair.client);
    pair.client->close();
  });
  auto chatter = spawn("chatter", [&] {
    for (int i = 0; i < 10; ++i) pair.client->write("more");
  });
  EXPECT_TRUE(pair.server->close({.linger = 10s}));
  EXPECT_FALSE(pair.server->is_open());
  await(client);
  await(chatter);
  EXPECT_EQ(got.bytes, accepted);
  EXPECT_EQ(got.code, 0);
}

MAIN_TYPED_TEST(Tcp, ACloseLingersNoLongerThanItIsAllowedTo) {
  Connected<OverTcp> pair;
  EXPECT_FALSE(pair.server->close({.linger = 5ms}));  // The client never ends.
  EXPECT_FALSE(pair.server->is_open());
  EXPECT_EQ(receive_all(*pair.client).code, 0);
  EXPECT_FALSE(pair.server->close({.linger = 5ms}));
}

MAIN_TYPED_TEST(Tcp, ACloseThatIsCancelledWhileItLingersHasClosed) {
  Connected<OverTcp> pair;
  auto closing = spawn("closing", [&] { pair.server->close({.linger = 1h}); });
  delay(1ms);
  closing.cancel();
  EXPECT_THROW(await(closing), Cancellation);
  EXPECT_FALSE(pair.server->is_open());
}

MAIN_TYPED_TEST(Tcp, AnEndlessPeerDoesNotKeepACloseLingering) {
  Connected<OverTcp> pair;
  auto endless = spawn("endless", [&] {
    try {
      for (;; delay(100us)) pair.client->write("again and again");
    } catch (const InputOutputError&) {
    }
  });
  EXPECT_FALSE(pair.server->close({.linger = 5ms}));
  await(endless);
}

MAIN_TYPED_TEST(Tcp, LingeringForANegativeTimeIsRefused) {
  Connected<OverTcp> pair;
  EXPECT_THROW(pair.server->close({.linger = -1s}), UsageError);
  EXPECT_TRUE(pair.server->is_open());
}

MAIN_TYPED_TEST(Tcp, AReaderThatWaitsCanBeExplained) {
  Connected<OverTcp> pair;
  auto reader = spawn("patient", [&] {
    std::array<std::byte, 1> byte;
    pair.client->read_exact(byte);
  });
  delay(1ms);
  const std::string waits = sim::wait_graph_text(current_coroutine().runtime());
  EXPECT_NE(waits.find("'patient'"), std::string::npos) << waits;
  pair.server->write("!");
  await(reader);
}

}  // namespace
}  // namespace fermata::conformance
