// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/io/select_accept.hpp"
#include "fermata/sync/await.hpp"
#include "tests/conformance/main_typed_test.hpp"
#include "tests/conformance/transports.hpp"
#include "tests/support/checks.hpp"

namespace fermata::conformance {
namespace {

using namespace std::chrono_literals;

template <class Case>
class Listener : public ::testing::Test {
 public:
  using T = typename Case::Transport;

  static auto listen(const ListenOptions& options = {}) { return T::listen(options); }

  /// A client that says its name and stays connected.
  static typename T::Stream client(const typename T::Listener& listener, std::string_view name) {
    auto stream = T::Stream::connect(T::place_of(listener));
    stream.write(name);
    return stream;
  }
};
TYPED_TEST_SUITE(Listener, Transports);

std::string name_of(ByteStream& stream) {
  std::string name(16, '\0');
  name.resize(stream.read(std::as_writable_bytes(std::span(name))));
  return name;
}

MAIN_TYPED_TEST(Listener, ConnectionsThatCameFirstAreQueued) {
  FERMATA_CHECKS("LIS-01", "LIS-02");
  auto listener = TestFixture::listen();
  const auto first = TestFixture::client(listener, "first");
  const auto second = TestFixture::client(listener, "second");
  delay(5ms);
  auto one = listener.accept();
  auto two = listener.accept();
  EXPECT_EQ(name_of(*one), "first");
  EXPECT_EQ(name_of(*two), "second");
}

MAIN_TYPED_TEST(Listener, AcceptorsAreServedInTheirOrder) {
  FERMATA_CHECKS("LIS-02");
  auto listener = TestFixture::listen();
  std::vector<std::string> got(3);
  std::vector<Coroutine<>> acceptors;
  for (auto& name : got) {
    acceptors.push_back(spawn("acceptor", [&] {
      auto stream = listener.accept();
      name = name_of(*stream);
    }));
  }
  suspend();
  const auto a = TestFixture::client(listener, "a");
  const auto b = TestFixture::client(listener, "b");
  const auto c = TestFixture::client(listener, "c");
  for (const auto& acceptor : acceptors) await(acceptor);
  EXPECT_EQ(got, (std::vector<std::string>{"a", "b", "c"}));
}

MAIN_TYPED_TEST(Listener, AnAcceptThatTimesOutLosesNoConnection) {
  FERMATA_CHECKS("LIS-03");
  auto listener = TestFixture::listen();
  EXPECT_THROW((void)listener.accept({.timeout = 2ms}), Timeout);
  const auto late = TestFixture::client(listener, "late");
  auto accepted = listener.accept();
  EXPECT_EQ(name_of(*accepted), "late");
}

MAIN_TYPED_TEST(Listener, AConnectionThatWasNeverTakenGoesToTheNextAcceptor) {
  FERMATA_CHECKS("LIS-01", "LIS-03", "CORE-WK-13");
  auto listener = TestFixture::listen();
  auto promised = std::make_unique<backend::AcceptRequest>(listener.handle());
  std::string got;
  auto next = spawn("next", [&] {
    auto stream = listener.accept();
    got = name_of(*stream);
  });
  suspend();
  const auto only = TestFixture::client(listener, "only");
  wait(*promised);
  EXPECT_EQ(got, "");
  promised.reset();
  await(next);
  EXPECT_EQ(got, "only");
}

MAIN_TYPED_TEST(Listener, CloseWakesEveryAcceptor) {
  FERMATA_CHECKS("LIS-04");
  auto listener = TestFixture::listen();
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
}

MAIN_TYPED_TEST(Listener, ConnectionsInTheQueueEndWithTheListener) {
  FERMATA_CHECKS("LIS-01", "CLOSE-03");
  auto listener = TestFixture::listen();
  auto queued = TestFixture::T::Stream::connect(TestFixture::T::place_of(listener));
  delay(5ms);
  listener.close();
  std::array<std::byte, 4> buffer;
  EXPECT_EQ(queued.read(buffer), 0u);
}

MAIN_TYPED_TEST(Listener, AcceptingOnAClosedHandleFailsAtOnce) {
  auto listener = TestFixture::listen();
  listener.close();
  backend::AcceptRequest request(listener.handle());
  ASSERT_TRUE(request.is_completed());
  EXPECT_EQ(message_of(request.error()), "Cannot accept from closed IO handle");
}

MAIN_TYPED_TEST(Listener, AFullQueuePausesAcceptingUntilThereIsRoom) {
  auto listener = TestFixture::listen({.backlog = 2});
  std::vector<typename TestFixture::T::Stream> clients;
  for (int i = 0; i < 4; ++i) clients.push_back(TestFixture::client(listener, std::to_string(i)));
  delay(5ms);
  for (int i = 0; i < 4; ++i) {
    auto accepted = listener.accept();
    EXPECT_EQ(name_of(*accepted), std::to_string(i));
  }
}

MAIN_TYPED_TEST(Listener, ASelectAcceptsOrLeavesTheConnectionToTheNext) {
  FERMATA_CHECKS("LIS-01", "LIS-03");
  auto listener = TestFixture::listen();
  const auto once = [&](Duration patience) {
    return select(
        on_accept(listener, [](auto stream) { return stream ? name_of(*stream) : "closed"; }),
        on_timeout(patience, [] { return std::string("nobody"); }));
  };
  EXPECT_EQ(once(2ms), "nobody");
  const auto first = TestFixture::client(listener, "first");
  EXPECT_EQ(once(10s), "first");

  const auto cancelled = spawn("cancelled", [&] { static_cast<void>(once(10s)); });
  suspend();
  cancelled.cancel();
  EXPECT_THROW(await(cancelled), Cancellation);
  const auto second = TestFixture::client(listener, "second");
  EXPECT_EQ(once(10s), "second");

  const auto closer = spawn("closer", [&] { listener.close(); });
  EXPECT_EQ(once(10s), "closed");
  EXPECT_EQ(once(10s), "closed");
  await(closer);
}

}  // namespace
}  // namespace fermata::conformance
