// SPDX-License-Identifier: Apache-2.0

// UDP sockets of foreign code.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

class DatagramSockets : public test::WorldFixture {
 protected:
  void run_alone(std::function<void()> body) {
    world_->node("main", std::move(body));
    run();
  }
};

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

template <class Address>
const sockaddr* any(const Address& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

// With the strategy calm the refusal arrives at once, on the way that it is the answer to.
TEST_F(DatagramSockets, AreToldOfEachRefusalAtOnce) {
  begin(1, FaultSet::none(), "calm");
  run_alone([] {
    const int socket = ::socket(AF_INET, SOCK_DGRAM, 0);
    const sockaddr_in nobody = loopback(7000);
    ASSERT_EQ(::connect(socket, any(nobody), sizeof nobody), 0);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(::send(socket, "text", 4, 0), 4);
      pollfd asked = {.fd = socket, .events = POLLIN, .revents = 0};
      EXPECT_EQ(::poll(&asked, 1, -1), 1);
      EXPECT_EQ(::recv(socket, nullptr, 0, 0), -1);
      EXPECT_EQ(errno, ECONNREFUSED);
    }
  });
}

TEST_F(DatagramSockets, AreToldOfRefusalsWhenTheyAskForErrors) {
  run_alone([] {
    const int socket = ::socket(AF_INET, SOCK_DGRAM, 0);
    const sockaddr_in nobody = loopback(7000);
    EXPECT_EQ(::sendto(socket, "text", 4, 0, any(nobody), sizeof nobody), 4);
    pollfd asked = {.fd = socket, .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&asked, 1, 100), 0);
    const int on = 1;
    EXPECT_EQ(::setsockopt(socket, IPPROTO_IP, IP_RECVERR, &on, sizeof on), 0);
    EXPECT_EQ(::sendto(socket, "text", 4, 0, any(nobody), sizeof nobody), 4);
    EXPECT_EQ(::poll(&asked, 1, 100), 1);
    EXPECT_EQ(::recv(socket, nullptr, 0, 0), -1);
    EXPECT_EQ(errno, ECONNREFUSED);
  });
}

int member_at(std::uint16_t port, const char* group, in_addr_t interface = INADDR_ANY) {
  const int socket = ::socket(AF_INET, SOCK_DGRAM, 0);
  ip_mreq request = {};
  ::inet_aton(group, &request.imr_multiaddr);
  request.imr_interface.s_addr = htonl(interface);
  EXPECT_EQ(::setsockopt(socket, IPPROTO_IP, IP_ADD_MEMBERSHIP, &request, sizeof request), 0);
  sockaddr_in address = loopback(port);
  address.sin_addr.s_addr = INADDR_ANY;
  EXPECT_EQ(::bind(socket, any(address), sizeof address), 0);
  return socket;
}

sockaddr_in group_at(const char* group, std::uint16_t port) {
  sockaddr_in address = loopback(port);
  ::inet_aton(group, &address.sin_addr);
  return address;
}

TEST_F(DatagramSockets, GetWhatIsSentToTheirGroup) {
  int heard = 0;
  for (const char* const name : {"first", "second"}) {
    world_->node(name, [&] {
      const int socket = member_at(7000, "239.1.2.3");
      std::array<char, 8> buffer{};
      EXPECT_EQ(::recv(socket, buffer.data(), buffer.size(), 0), 4);
      ++heard;
      ::close(socket);
    });
  }
  world_->node("stranger", [] {
    const int socket = member_at(7000, "239.9.9.9");
    pollfd asked = {.fd = socket, .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&asked, 1, 2000), 0);
    ::close(socket);
  });
  world_->node("sender", [] {
    ::sleep(1);
    const int socket = ::socket(AF_INET, SOCK_DGRAM, 0);
    const sockaddr_in group = group_at("239.1.2.3", 7000);
    EXPECT_EQ(::sendto(socket, "text", 4, 0, any(group), sizeof group), 4);
    ::close(socket);
  });
  run();
  EXPECT_EQ(heard, 2);
}

TEST_F(DatagramSockets, LeaveTheirGroup) {
  run_alone([] {
    const int socket = member_at(7000, "239.1.2.3");
    const sockaddr_in group = group_at("239.1.2.3", 7000);
    std::array<char, 8> buffer{};
    EXPECT_EQ(::sendto(socket, "text", 4, 0, any(group), sizeof group), 4);
    EXPECT_EQ(::recv(socket, buffer.data(), buffer.size(), 0), 4);
    ip_mreqn request = {};
    request.imr_multiaddr = group.sin_addr;
    const auto change = [&](int name) {
      const int result = ::setsockopt(socket, IPPROTO_IP, name, &request, sizeof request);
      return result == 0 ? 0 : errno;
    };
    EXPECT_EQ(change(IP_ADD_MEMBERSHIP), EADDRINUSE);
    EXPECT_EQ(change(IP_DROP_MEMBERSHIP), 0);
    EXPECT_EQ(change(IP_DROP_MEMBERSHIP), EADDRNOTAVAIL);
    request.imr_ifindex = 99;
    EXPECT_EQ(change(IP_ADD_MEMBERSHIP), ENODEV);
    request.imr_ifindex = 1;
    EXPECT_EQ(change(IP_ADD_MEMBERSHIP), 0);
    request.imr_multiaddr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(change(IP_ADD_MEMBERSHIP), EINVAL);
    EXPECT_EQ(::sendto(socket, "text", 4, 0, any(group), sizeof group), 4);
    pollfd asked = {.fd = socket, .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&asked, 1, 100), 0);
    ::close(socket);
  });
}

/// What options of groups answer: errno, and the value then.
std::vector<std::string> options_of_groups() {
  std::vector<std::string> answers;
  const auto set = [&](int socket, int level, int name, std::uint32_t value) {
    const int result = ::setsockopt(socket, level, name, &value, sizeof value);
    std::string answer = std::to_string(result == 0 ? 0 : errno);
    std::uint32_t now = 0;
    socklen_t size = sizeof now;
    const int got = ::getsockopt(socket, level, name, &now, &size);
    answer += " " + std::to_string(got == 0 ? 0 : errno) + " " + std::to_string(now);
    answers.push_back(answer);
  };
  for (const int type : {SOCK_DGRAM, SOCK_STREAM}) {
    const int v4 = ::socket(AF_INET, type, 0);
    const int v6 = ::socket(AF_INET6, type, 0);
    for (const std::uint32_t value : {0u, 1u, 255u, 256u, ~0u}) {
      set(v4, IPPROTO_IP, IP_MULTICAST_TTL, value);
      set(v6, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, value);
    }
    for (const std::uint32_t value : {0u, 1u}) {
      set(v4, IPPROTO_IP, IP_MULTICAST_LOOP, value);
      set(v6, IPPROTO_IPV6, IPV6_MULTICAST_LOOP, value);
      set(v4, IPPROTO_IP, IP_RECVERR, value);
      set(v6, IPPROTO_IPV6, IPV6_RECVERR, value);
    }
    for (const std::uint32_t host : {0u, 0x7f000001u, 0x01020304u}) {
      set(v4, IPPROTO_IP, IP_MULTICAST_IF, htonl(host));
    }
    for (const std::uint32_t index : {0u, 1u, 99u}) {
      set(v6, IPPROTO_IPV6, IPV6_MULTICAST_IF, index);
    }
    ::close(v4);
    ::close(v6);
  }
  return answers;
}

TEST_F(DatagramSockets, HaveLinuxsOptionsOfGroups) {
  const std::vector<std::string> on_linux = options_of_groups();
  run_alone([&] { EXPECT_EQ(options_of_groups(), on_linux); });
}

TEST_F(DatagramSockets, OfVersion6AloneShareAPortWithThoseOfVersion4) {
  run_alone([] {
    const int v6 = ::socket(AF_INET6, SOCK_DGRAM, 0);
    const int v4 = ::socket(AF_INET, SOCK_DGRAM, 0);
    const int on = 1;
    EXPECT_EQ(::setsockopt(v6, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on), 0);
    sockaddr_in6 all = {};
    all.sin6_family = AF_INET6;
    all.sin6_port = htons(7000);
    EXPECT_EQ(::bind(v6, any(all), sizeof all), 0);
    const sockaddr_in here = loopback(7000);
    EXPECT_EQ(::sendto(v4, "text", 4, 0, any(here), sizeof here), 4);
    pollfd asked = {.fd = v6, .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&asked, 1, 100), 0);
    const int second = ::socket(AF_INET, SOCK_DGRAM, 0);
    EXPECT_EQ(::bind(second, any(here), sizeof here), 0);
    EXPECT_EQ(::sendto(v4, "text", 4, 0, any(here), sizeof here), 4);
    std::array<char, 8> buffer{};
    EXPECT_EQ(::recv(second, buffer.data(), buffer.size(), 0), 4);
    all.sin6_addr = {.__in6_u = {.__u6_addr32 = {0, 0, htonl(0xffff), htonl(0x7f000001)}}};
    EXPECT_EQ(::sendto(v6, "text", 4, 0, any(all), sizeof all), -1);
    EXPECT_EQ(errno, ENETUNREACH);
  });
}

}  // namespace
}  // namespace fermata::sim
