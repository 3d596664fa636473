// SPDX-License-Identifier: Apache-2.0

// IP of version 6, alone and beside version 4. A real machine need not have it.

#include <gtest/gtest.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include <array>
#include <cerrno>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/io/dns.hpp"
#include "fermata/io/tcp.hpp"
#include "fermata/io/udp.hpp"
#include "fermata/sync/await.hpp"
#include "tests/conformance/arms.hpp"
#include "tests/conformance/main_typed_test.hpp"
#include "tests/support/error_of.hpp"

namespace fermata::conformance {
namespace {

using test::error_of;

/// Whether this machine, the real one, has ::1.
bool real_loopback() {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return false;
  bool has = false;
  for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET6) continue;
    const auto* const six = reinterpret_cast<const sockaddr_in6*>(each->ifa_addr);
    has = has || IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
  }
  ::freeifaddrs(all);
  return has;
}

/// Simulated machines have it, whatever this one has.
template <class Arm>
class VersionSix : public ::testing::Test {
 protected:
  void SetUp() override {
    const bool has = std::is_same_v<Arm, SimArm> || real_loopback();
    if (!has) GTEST_SKIP() << "this machine has no IP of version 6";
  }
};

template <class Arm>
class TcpOfVersionSix : public VersionSix<Arm> {};
TYPED_TEST_SUITE(TcpOfVersionSix, PollableArms);

template <class Arm>
class UdpOfVersionSix : public VersionSix<Arm> {};
TYPED_TEST_SUITE(UdpOfVersionSix, OrderedArms);

template <class Arm>
class NamesOfVersionSix : public VersionSix<Arm> {};
TYPED_TEST_SUITE(NamesOfVersionSix, OrderedArms);

struct Pair {
  TcpStream client;
  TcpStream server;
};

/// A connection to `ip` at the port of `listener`.
Pair connect(TcpListener& listener, const char* ip) {
  const Address peer(ip, listener.local_address().port());
  auto client = spawn("client", [&] { return TcpStream::connect(peer); });
  TcpStream server = listener.accept().value();
  return {await(std::move(client)), std::move(server)};
}

/// The errno value of the error that `does` throws; 0 when it throws none.
template <class F>
int code_of(F does) {
  try {
    (void)does();
  } catch (const InputOutputError& error) {
    return error.code();
  }
  return 0;
}

int code_of_listen(const Address& address) {
  return code_of([&] { return TcpListener::bind(address); });
}

MAIN_TYPED_TEST(TcpOfVersionSix, CarriesBytes) {
  auto listener = TcpListener::bind({"::1", 0});
  EXPECT_EQ(listener.local_address().ip_text(), "::1");
  Pair pair = connect(listener, "::1");
  EXPECT_EQ(pair.client.peer_address(), listener.local_address());
  EXPECT_EQ(pair.client.peer_address(), pair.server.local_address());
  EXPECT_EQ(pair.client.local_address(), pair.server.peer_address());
  EXPECT_EQ(pair.client.local_address().ip_text(), "::1");
  pair.client.write("six");
  std::array<std::byte, 8> buffer;
  EXPECT_EQ(pair.server.read(buffer), 3u);
}

MAIN_TYPED_TEST(TcpOfVersionSix, AListenerAtAnyAddressGetsBothVersions) {
  auto listener = TcpListener::bind({"::", 0});
  EXPECT_EQ(listener.local_address().ip_text(), "::");
  const Pair six = connect(listener, "::1");
  EXPECT_EQ(six.server.peer_address().ip_text(), "::1");
  const Pair four = connect(listener, "127.0.0.1");
  EXPECT_EQ(four.client.peer_address().ip_text(), "127.0.0.1");
  EXPECT_EQ(four.server.local_address(), four.client.peer_address().mapped());
  EXPECT_EQ(four.server.peer_address(), four.client.local_address().mapped());
  EXPECT_EQ(four.server.peer_address().ip_text(), "::ffff:127.0.0.1");
}

MAIN_TYPED_TEST(TcpOfVersionSix, AMappedAddressMeansTheOneOfVersionFour) {
  auto listener = TcpListener::bind({"127.0.0.1", 0});
  const Pair pair = connect(listener, "::ffff:127.0.0.1");
  EXPECT_EQ(pair.client.peer_address().ip_text(), "::ffff:127.0.0.1");
  EXPECT_EQ(pair.client.local_address().ip_text(), "::ffff:127.0.0.1");
  EXPECT_EQ(pair.server.peer_address(), pair.client.local_address().unmapped());
}

MAIN_TYPED_TEST(TcpOfVersionSix, TheVersionsHavePortsOfTheirOwn) {
  auto four = TcpListener::bind({"127.0.0.1", 0});
  const std::uint16_t port = four.local_address().port();
  EXPECT_EQ(code_of([&] { return TcpStream::connect({"::1", port}); }), ECONNREFUSED);
  auto six = TcpListener::bind({"::1", port});
  EXPECT_EQ(connect(six, "::1").server.local_address(), six.local_address());
  EXPECT_EQ(connect(four, "127.0.0.1").server.local_address(), four.local_address());
}

MAIN_TYPED_TEST(TcpOfVersionSix, WhoGetsBothVersionsNeedsThePortOfBoth) {
  // Another program may have taken a port in one version only.
  for (int attempt = 0; attempt < 20; ++attempt) {
    auto four = TcpListener::bind({"0.0.0.0", 0});
    const std::uint16_t port = four.local_address().port();
    EXPECT_EQ(code_of_listen({"::", port}), EADDRINUSE);
    if (code_of_listen({"::1", port}) == 0) return;
  }
  ADD_FAILURE() << "no port of version 4 is free in version 6";
}

MAIN_TYPED_TEST(TcpOfVersionSix, TwoAddressesHaveOnePortEach) {
  auto one = TcpListener::bind({"127.0.0.1", 0});
  const std::uint16_t port = one.local_address().port();
  auto two = TcpListener::bind({"127.0.0.2", port});
  const TcpStream to_two = TcpStream::connect({"127.0.0.2", port});
  EXPECT_EQ(two.accept()->local_address(), (Address{"127.0.0.2", port}));
  const TcpStream to_one = TcpStream::connect({"127.0.0.1", port});
  EXPECT_EQ(one.accept()->local_address(), (Address{"127.0.0.1", port}));
  EXPECT_EQ(code_of_listen({"0.0.0.0", port}), EADDRINUSE);
}

MAIN_TYPED_TEST(NamesOfVersionSix, FiguresAreLookedUpAsWhatTheyAre) {
  EXPECT_EQ(resolve("fd00::7", "80"), (std::vector<Address>{{"fd00::7", 80}}));
  EXPECT_EQ(reverse_resolve({"::1", 80}).service, "http");
}

std::string receive_text(UdpSocket& socket, Address& peer) {
  std::string text(16, '\0');
  const Datagram got = socket.receive(std::as_writable_bytes(std::span(text)));
  text.resize(got.size);
  peer = got.peer;
  return text;
}

MAIN_TYPED_TEST(UdpOfVersionSix, CarriesDatagrams) {
  UdpSocket a = UdpSocket::bind({"::1", 0});
  UdpSocket b = UdpSocket::bind({"::1", 0});
  Address peer;
  a.send_to("six", b.local_address());
  EXPECT_EQ(receive_text(b, peer), "six");
  EXPECT_EQ(peer, a.local_address());
  b.send_to("back", peer);
  EXPECT_EQ(receive_text(a, peer), "back");
}

MAIN_TYPED_TEST(UdpOfVersionSix, ASocketAtAnyAddressGetsBothVersions) {
  UdpSocket both = UdpSocket::bind({"::", 0});
  const std::uint16_t port = both.local_address().port();
  UdpSocket four = UdpSocket::bind({"127.0.0.1", 0});
  UdpSocket six = UdpSocket::bind({"::1", 0});
  Address peer;
  four.send_to("4", {"127.0.0.1", port});
  EXPECT_EQ(receive_text(both, peer), "4");
  EXPECT_EQ(peer, four.local_address().mapped());
  both.send_to("back", peer);
  EXPECT_EQ(receive_text(four, peer), "back");
  EXPECT_EQ(peer, Address("127.0.0.1", port));
  six.send_to("6", {"::1", port});
  EXPECT_EQ(receive_text(both, peer), "6");
  EXPECT_EQ(peer, six.local_address());
}

MAIN_TYPED_TEST(UdpOfVersionSix, ASocketOfVersionFourCannotSendThere) {
  UdpSocket four = UdpSocket::bind({"127.0.0.1", 0});
  EXPECT_EQ(error_of([&] {
              four.send_to("x", {"::1", 9});
            }),
            "send to [::1]:9: Address family not supported by protocol");
}

MAIN_TYPED_TEST(UdpOfVersionSix, ItsGroupsAreRefused) {
  UdpSocket six = UdpSocket::bind({"::", 0});
  EXPECT_EQ(error_of([&] { six.join("ff02::7"); }),
            "join 'ff02::7': expected a multicast group, 224.0.0.0 to 239.255.255.255");
}

}  // namespace
}  // namespace fermata::conformance
