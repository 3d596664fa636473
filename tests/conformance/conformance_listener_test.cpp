// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <vector>

#include "fermata/runtime/base/error.hpp"
#include "fermata/runtime/core/spawn.hpp"
#include "fermata/runtime/io/tcp.hpp"
#include "fermata/runtime/sync/await.hpp"
#include "tests/conformance/arms.hpp"
#include "tests/support/checks.hpp"

namespace fermata::conformance {
namespace {

using namespace std::chrono_literals;

template <class Arm>
class Listener : public ::testing::Test {};
TYPED_TEST_SUITE(Listener, Arms);

TcpListener listen() { return TcpListener::bind({"127.0.0.1", 0}); }

/// A client that says its name and stays connected.
TcpStream client(const TcpListener& listener, std::string_view name) {
  TcpStream stream = TcpStream::connect(listener.local_address());
  stream.write(name);
  return stream;
}

std::string name_of(TcpStream& stream) {
  std::string name(16, '\0');
  name.resize(stream.read(std::as_writable_bytes(std::span(name))));
  return name;
}

TYPED_TEST(Listener, TellsThePortThatWasChosen) {
  TypeParam::run([] {
    const TcpListener listener = listen();
    EXPECT_NE(listener.local_address().port(), 0);
    EXPECT_EQ(listener.local_address().ip(), 0x7f000001u);
  });
}

TYPED_TEST(Listener, AnAddressInUseIsRefused) {
  TypeParam::run([] {
    const TcpListener listener = listen();
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

TYPED_TEST(Listener, ConnectionsThatCameFirstAreQueued) {
  FERMATA_CHECKS("LIS-01", "LIS-02");
  TypeParam::run([] {
    TcpListener listener = listen();
    const TcpStream first = client(listener, "first");
    const TcpStream second = client(listener, "second");
    delay(5ms);
    auto one = listener.accept();
    auto two = listener.accept();
    EXPECT_EQ(name_of(*one), "first");
    EXPECT_EQ(name_of(*two), "second");
  });
}

TYPED_TEST(Listener, AcceptorsAreServedInTheirOrder) {
  FERMATA_CHECKS("LIS-02");
  TypeParam::run([] {
    TcpListener listener = listen();
    std::vector<std::string> got(3);
    std::vector<Coroutine<>> acceptors;
    for (auto& name : got) {
      acceptors.push_back(spawn("acceptor", [&] {
        auto stream = listener.accept();
        name = name_of(*stream);
      }));
    }
    suspend();
    const TcpStream a = client(listener, "a");
    const TcpStream b = client(listener, "b");
    const TcpStream c = client(listener, "c");
    for (const auto& acceptor : acceptors) await(acceptor);
    EXPECT_EQ(got, (std::vector<std::string>{"a", "b", "c"}));
  });
}

TYPED_TEST(Listener, AnAcceptThatTimesOutLosesNoConnection) {
  FERMATA_CHECKS("LIS-03");
  TypeParam::run([] {
    TcpListener listener = listen();
    EXPECT_THROW((void)listener.accept({.timeout = 2ms}), Timeout);
    const TcpStream late = client(listener, "late");
    auto accepted = listener.accept();
    EXPECT_EQ(name_of(*accepted), "late");
  });
}

TYPED_TEST(Listener, AConnectionThatWasNeverTakenGoesToTheNextAcceptor) {
  FERMATA_CHECKS("LIS-01", "LIS-03", "CORE-WK-13");
  TypeParam::run([] {
    TcpListener listener = listen();
    auto promised = std::make_unique<AcceptRequest>(listener.handle());
    std::string got;
    auto next = spawn("next", [&] {
      auto stream = listener.accept();
      got = name_of(*stream);
    });
    suspend();
    const TcpStream only = client(listener, "only");
    wait(*promised);
    EXPECT_EQ(got, "");
    promised.reset();
    await(next);
    EXPECT_EQ(got, "only");
  });
}

TYPED_TEST(Listener, CloseWakesEveryAcceptor) {
  FERMATA_CHECKS("LIS-04");
  TypeParam::run([] {
    TcpListener listener = listen();
    std::vector<std::string> ends;
    std::vector<Coroutine<>> acceptors;
    for (int i = 0; i < 2; ++i) {
      acceptors.push_back(
          spawn("acceptor", [&] { ends.push_back(listener.accept() ? "connection" : "closed"); }));
    }
    suspend();
    listener.close();
    for (const auto& acceptor : acceptors) await(acceptor);
    EXPECT_EQ(ends, (std::vector<std::string>{"closed", "closed"}));
    EXPECT_FALSE(listener.accept());
    listener.close();
  });
}

TYPED_TEST(Listener, ConnectionsInTheQueueEndWithTheListener) {
  FERMATA_CHECKS("LIS-01", "CLOSE-03");
  TypeParam::run([] {
    TcpListener listener = listen();
    TcpStream queued = TcpStream::connect(listener.local_address());
    delay(5ms);
    listener.close();
    std::array<std::byte, 4> buffer;
    EXPECT_EQ(queued.read(buffer), 0u);
  });
}

TYPED_TEST(Listener, AcceptingOnAClosedHandleFailsAtOnce) {
  TypeParam::run([] {
    TcpListener listener = listen();
    listener.close();
    AcceptRequest request(listener.handle());
    ASSERT_TRUE(request.completed());
    EXPECT_EQ(message_of(request.error()), "Cannot accept from closed IO handle");
  });
}

TYPED_TEST(Listener, AFullQueuePausesAcceptingUntilThereIsRoom) {
  TypeParam::run([] {
    TcpListener listener = TcpListener::bind({"127.0.0.1", 0}, {.backlog = 2});
    std::vector<TcpStream> clients;
    for (int i = 0; i < 4; ++i) clients.push_back(client(listener, std::to_string(i)));
    delay(5ms);
    for (int i = 0; i < 4; ++i) {
      auto accepted = listener.accept();
      EXPECT_EQ(name_of(*accepted), std::to_string(i));
    }
  });
}

}  // namespace
}  // namespace fermata::conformance
