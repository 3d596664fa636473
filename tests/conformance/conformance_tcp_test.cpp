// SPDX-License-Identifier: Apache-2.0

// What only TCP has; what all connections do is in the bodies about streams and listeners.

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <string>

#include "fermata/runtime/base/error.hpp"
#include "fermata/runtime/core/spawn.hpp"
#include "fermata/runtime/core/suspend.hpp"
#include "fermata/runtime/sync/await.hpp"
#include "fermata/sim/check/explain.hpp"
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

TYPED_TEST(Tcp, BothEndsKnowBothAddresses) {
  TypeParam::run([] {
    const Connected<OverTcp> pair;
    EXPECT_EQ(pair.client->peer_address(), pair.server->local_address());
    EXPECT_EQ(pair.client->local_address(), pair.server->peer_address());
  });
}

TYPED_TEST(Tcp, ARefusedConnectionSaysWhere) {
  TypeParam::run([] {
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
  });
}

TYPED_TEST(Tcp, TellsThePortThatWasChosen) {
  TypeParam::run([] {
    const TcpListener listener = OverTcp::listen();
    EXPECT_NE(listener.local_address().port(), 0);
    EXPECT_EQ(listener.local_address().ip(), 0x7f000001u);
  });
}

TYPED_TEST(Tcp, AnAddressInUseIsRefused) {
  TypeParam::run([] {
    const TcpListener listener = OverTcp::listen();
    try {
      (void)TcpListener::bind(listener.local_address());
      ADD_FAILURE() << "expected an error";
    } catch (const InputOutputError& error) {
      EXPECT_EQ(error.code(), EADDRINUSE);
      EXPECT_EQ(error.what(),
                "listen at " + listener.local_address().text() + ": Address already in use");
    }
  });
}

TYPED_TEST(Tcp, AnExactReadThatMeetsAResetLeavesWhatItHad) {
  FERMATA_CHECKS("IO-02");
  TypeParam::run([] {
    Connected<OverTcp> pair;
    auto reader = spawn("reader", [&] { return error_of([&] { read_exactly(*pair.server, 8); }); });
    pair.client->write("abc");
    delay(10ms);
    pair.client->reset();
    EXPECT_EQ(await(reader), "read: Connection reset by peer");
    EXPECT_EQ(read_text(*pair.server), "abc");
    EXPECT_EQ(error_of([&] { read_text(*pair.server); }), "read: Connection reset by peer");
  });
}

TYPED_TEST(Tcp, AReaderThatWaitsCanBeExplained) {
  TypeParam::run([] {
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
  });
}

}  // namespace
}  // namespace fermata::conformance
