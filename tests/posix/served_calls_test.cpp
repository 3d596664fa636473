// SPDX-License-Identifier: Apache-2.0

// What the simulated system answers to calls of the C library: in time, under cancellation, at
// crashes, at the end of a process.

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/io/tcp.hpp"
#include "fermata/posix/kernel.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;

constexpr std::uint16_t kPort = 7000;

sockaddr_in v4(std::uint32_t host, std::uint16_t port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(host);
  address.sin_port = htons(port);
  return address;
}

const sockaddr* any(const sockaddr_in& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

/// A socket that listens at the port; the result is -1 with errno.
int listening(std::uint16_t port = kPort) {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in address = v4(INADDR_ANY, port);
  if (listener < 0 || ::bind(listener, any(address), sizeof address) != 0) return -1;
  return ::listen(listener, 8) == 0 ? listener : -1;
}

/// A socket that is connected to a machine; -1 with errno.
int connected(std::uint32_t host, std::uint16_t port = kPort) {
  const int client = ::socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in address = v4(host, port);
  return ::connect(client, any(address), sizeof address) == 0 ? client : -1;
}

class ServedCalls : public test::WorldFixture {
 protected:
  void run_alone(std::function<void()> body) {
    world_->node("main", std::move(body));
    run();
  }
  std::uint32_t address_of(std::string_view node) {
    return world_->node(node).address(0).v4_number();
  }
};

TEST_F(ServedCalls, AreTheSystemsOutsideOfAWorld) {
  EXPECT_TRUE(posix::is_linked());
  EXPECT_EQ(posix::serving, nullptr);
  const int descriptor = ::eventfd(3, EFD_CLOEXEC);
  ASSERT_GE(descriptor, 0);
  eventfd_t count = 0;
  EXPECT_EQ(::eventfd_read(descriptor, &count), 0);
  EXPECT_EQ(count, 3u);
  EXPECT_EQ(::close(descriptor), 0);
  timespec time = {};
  EXPECT_EQ(::clock_gettime(CLOCK_MONOTONIC, &time), 0);
  EXPECT_GT(time.tv_sec, 0);
}

TEST_F(ServedCalls, AMachineHasBeenUpForAWhileAndAProcessHasNot) {
  begin(1, FaultSet::none(), "calm");
  run_alone([] {
    timespec time = {};
    for (const clockid_t clock : {CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_BOOTTIME}) {
      EXPECT_EQ(::clock_gettime(clock, &time), 0);
      EXPECT_GT(time.tv_sec, 0);
    }
    EXPECT_EQ(::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time), 0);
    EXPECT_EQ(time.tv_sec, 0);
  });
}

TEST_F(ServedCalls, TwoMachinesTalkWithBlockingCalls) {
  std::string got;
  world_->node("server", [] {
    const int listener = listening();
    ASSERT_GE(listener, 0);
    const int peer = ::accept(listener, nullptr, nullptr);
    ASSERT_GE(peer, 0);
    std::array<char, 100> buffer{};
    ssize_t size = 0;
    while ((size = ::read(peer, buffer.data(), buffer.size())) > 0) {
      EXPECT_EQ(::write(peer, buffer.data(), static_cast<size_t>(size)), size);
    }
    EXPECT_EQ(size, 0);
  });
  world_->node("client", [&, host = address_of("server")] {
    delay(1ms);
    const int client = connected(host);
    ASSERT_GE(client, 0);
    EXPECT_EQ(::send(client, "hello", 5, 0), 5);
    EXPECT_EQ(::shutdown(client, SHUT_WR), 0);
    std::array<char, 100> buffer{};
    const ssize_t size = ::recv(client, buffer.data(), 5, MSG_WAITALL);
    ASSERT_EQ(size, 5);
    got.assign(buffer.data(), 5);
    EXPECT_EQ(::recv(client, buffer.data(), buffer.size(), 0), 0);
  });
  run();
  EXPECT_EQ(got, "hello");
}

TEST_F(ServedCalls, ReachWhatIsWrittenOnFermata) {
  world_->service("server", [] {
    TcpListener listener = TcpListener::bind(Address::v4(0, kPort));
    while (auto stream = listener.accept()) stream->write("from Fermata");
  });
  world_->node("client", [host = address_of("server")] {
    delay(1ms);
    const int client = connected(host);
    ASSERT_GE(client, 0);
    std::array<char, 12> buffer{};
    EXPECT_EQ(::recv(client, buffer.data(), buffer.size(), MSG_WAITALL), 12);
    EXPECT_EQ(std::string(buffer.data(), 12), "from Fermata");
  });
  run();
}

TEST_F(ServedCalls, ASocketOfOneVersionLeavesThePortToTheOther) {
  run_alone([] {
    ASSERT_GE(listening(), 0);
    const int six = ::socket(AF_INET6, SOCK_STREAM, 0);
    sockaddr_in6 address = {};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(kPort);
    const auto* const any_address = reinterpret_cast<const sockaddr*>(&address);
    EXPECT_EQ(::bind(six, any_address, sizeof address), -1);
    EXPECT_EQ(errno, EADDRINUSE);
    const int on = 1;
    ASSERT_EQ(::setsockopt(six, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on), 0);
    EXPECT_EQ(::bind(six, any_address, sizeof address), 0);
    EXPECT_EQ(::listen(six, 1), 0);
    EXPECT_GE(connected(INADDR_LOOPBACK), 0);
  });
}

TEST_F(ServedCalls, ASenderOfUnixDatagramsWaitsForRoom) {
  run_alone([] {
    std::array<int, 2> ends{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_DGRAM, 0, ends.data()), 0);
    auto reader = spawn([end = ends[1]] {
      delay(1ms);
      for (char expected = 0; expected < 30; ++expected) {
        char byte = -1;
        EXPECT_EQ(::recv(end, &byte, 1, 0), 1);
        EXPECT_EQ(byte, expected);
      }
    });
    const Instant begun = now();
    for (char byte = 0; byte < 30; ++byte) EXPECT_EQ(::send(ends[0], &byte, 1, 0), 1);
    EXPECT_GE(now() - begun, 1ms);
    await(reader);
  });
}

// --- time ---

TEST_F(ServedCalls, SleepInVirtualTimeThatAllClocksShow) {
  run_alone([] {
    const std::time_t begun = ::time(nullptr);
    timespec before = {};
    ::clock_gettime(CLOCK_MONOTONIC, &before);
    EXPECT_EQ(::sleep(3600), 0u);
    timespec after = {};
    ::clock_gettime(CLOCK_MONOTONIC, &after);
    EXPECT_EQ(after.tv_sec - before.tv_sec, 3600);
    EXPECT_EQ(::time(nullptr) - begun, 3600);
    timeval day = {};
    EXPECT_EQ(::gettimeofday(&day, nullptr), 0);
    EXPECT_EQ(day.tv_sec, ::time(nullptr));
  });
}

TEST_F(ServedCalls, GiveUpAfterTheLimitOfASocket) {
  run_alone([] {
    const int listener = listening();
    const timeval limit = {.tv_sec = 2, .tv_usec = 500'000};
    ASSERT_EQ(::setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit), 0);
    const Instant begun = now();
    EXPECT_EQ(::accept(listener, nullptr, nullptr), -1);
    EXPECT_EQ(errno, EAGAIN);
    EXPECT_EQ(now() - begun, 2500ms);
  });
}

TEST_F(ServedCalls, ABusyLoopLetsTimePass) {
  run_alone([] {
    timespec begun = {};
    ::clock_gettime(CLOCK_MONOTONIC, &begun);
    timespec time = begun;
    while (time.tv_sec == begun.tv_sec && time.tv_nsec - begun.tv_nsec < 1'000'000) {
      ::clock_gettime(CLOCK_MONOTONIC, &time);
    }
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    auto writer = spawn([end = ends[1]] {
      delay(1ms);
      EXPECT_EQ(::write(end, "x", 1), 1);
    });
    pollfd asked = {ends[0], POLLIN, 0};
    while (::poll(&asked, 1, 0) == 0) {
    }
    EXPECT_EQ(asked.revents, POLLIN);
    await(writer);
  });
}

TEST_F(ServedCalls, ATimerDescriptorCountsItsExpirations) {
  run_alone([] {
    const int timer = ::timerfd_create(CLOCK_MONOTONIC, 0);
    itimerspec setting = {};
    setting.it_value.tv_sec = 1;
    setting.it_interval.tv_nsec = 500'000'000;
    ASSERT_EQ(::timerfd_settime(timer, 0, &setting, nullptr), 0);
    std::uint64_t count = 0;
    EXPECT_EQ(::read(timer, &count, sizeof count), 8);
    EXPECT_EQ(count, 1u);
    delay(1600ms);
    EXPECT_EQ(::read(timer, &count, sizeof count), 8);
    EXPECT_EQ(count, 3u);
  });
}

// --- the end ---

TEST_F(ServedCalls, AreInterruptedByACancellationAndThenCancelled) {
  std::vector<int> codes;
  bool thrown = false;
  run_alone([&] {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    auto reader = spawn([&] {
      char byte = 0;
      for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(::read(ends[0], &byte, 1), -1);
        codes.push_back(errno);
      }
      EXPECT_EQ(::close(ends[0]), 0);
      try {
        suspend();
      } catch (const Cancellation&) {
        thrown = true;
        throw;
      }
    });
    delay(1ms);
    reader.cancel();
    EXPECT_NE(test::error_of([&] { await(reader); }), "");
    EXPECT_EQ(::write(ends[1], "x", 1), -1);
    EXPECT_EQ(errno, EPIPE);
  });
  EXPECT_EQ(codes, (std::vector<int>{EINTR, ECANCELED, ECANCELED}));
  EXPECT_TRUE(thrown);
}

TEST_F(ServedCalls, AProcessThatEndsClosesItsDescriptors) {
  world_->node("server", [] {
    const int listener = listening();
    EXPECT_GE(::accept(listener, nullptr, nullptr), 0);
  });
  world_->node("client", [host = address_of("server")] {
    delay(1ms);
    const int client = connected(host);
    char byte = 0;
    EXPECT_EQ(::recv(client, &byte, 1, 0), 0);
  });
  run();
}

TEST_F(ServedCalls, AMachineThatCrashesResetsItsConnectionsOrFallsSilent) {
  std::set<int> codes;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    begin(seed);
    world_->service("server", [] {
      const int listener = listening();
      const int peer = ::accept(listener, nullptr, nullptr);
      char byte = 0;
      static_cast<void>(::recv(peer, &byte, 1, 0));
    });
    world_->node("client", [&, host = address_of("server")] {
      delay(1ms);
      const int client = connected(host);
      const timeval limit = {.tv_sec = 5, .tv_usec = 0};
      ASSERT_EQ(::setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit), 0);
      char byte = 0;
      EXPECT_EQ(::recv(client, &byte, 1, 0), -1);
      codes.insert(errno);
    });
    world_->at(10ms, [this] { world_->node("server").crash(); });
    run();
  }
  EXPECT_EQ(codes, (std::set<int>{ECONNRESET, EAGAIN}));
}

TEST_F(ServedCalls, AWaitInACallbackFailsTheRun) {
  class Reader final : public backend::Microtask {
    void run() override {
      std::array<int, 2> ends{};
      ASSERT_EQ(::pipe(ends.data()), 0);
      char byte = 0;
      EXPECT_EQ(::read(ends[0], &byte, 1), -1);
    }
  };
  world_->node("main", [] {
    auto* const reader = new Reader;
    current_runtime().queue_microtask(*reader);
    reader->release();
    delay(1ms);
  });
  world_->run();
  ASSERT_TRUE(world_->failure());
  EXPECT_NE(world_->failure()->message.find("read() waits in a callback"), std::string::npos)
      << world_->failure()->message;
}

TEST_F(ServedCalls, WritesToTheStandardOutputGoWhereItsPrintsGo) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* const kept = std::exchange(stdout, ::open_memstream(&text, &size));
  run_alone([] {
    std::printf("printed, ");
    EXPECT_EQ(::write(STDOUT_FILENO, "written", 7), 7);
    char byte = 0;
    EXPECT_EQ(::read(STDIN_FILENO, &byte, 1), 0);
  });
  std::fclose(std::exchange(stdout, kept));
  EXPECT_STREQ(text, "printed, written");
  std::free(text);
}

// --- names ---

TEST_F(ServedCalls, FindTheMachinesByTheirNames) {
  world_->node("other", [] {});
  run_alone([host = address_of("other")] {
    addrinfo hints = {};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* list = nullptr;
    ASSERT_EQ(::getaddrinfo("other", "http", &hints, &list), 0);
    const auto& first = *reinterpret_cast<const sockaddr_in*>(list->ai_addr);
    EXPECT_EQ(list->ai_family, AF_INET);
    EXPECT_EQ(ntohl(first.sin_addr.s_addr), host);
    EXPECT_EQ(ntohs(first.sin_port), 80);
    ASSERT_NE(list->ai_next, nullptr);
    EXPECT_EQ(list->ai_next->ai_family, AF_INET6);
    EXPECT_EQ(list->ai_next->ai_next, nullptr);
    std::array<char, NI_MAXHOST> name{};
    ASSERT_EQ(::getnameinfo(list->ai_addr, list->ai_addrlen, name.data(), name.size(), nullptr, 0,
                            NI_NAMEREQD),
              0);
    EXPECT_STREQ(name.data(), "other");
    ::freeaddrinfo(list);
    EXPECT_EQ(::getaddrinfo("nobody", "80", &hints, &list), EAI_NONAME);
    const hostent* const entry = ::gethostbyname("other");
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ(ntohl(reinterpret_cast<const in_addr*>(entry->h_addr_list[0])->s_addr), host);
    ASSERT_EQ(::gethostname(name.data(), name.size()), 0);
    EXPECT_STREQ(name.data(), "main");
    ifaddrs* interfaces = nullptr;
    ASSERT_EQ(::getifaddrs(&interfaces), 0);
    int count = 0;
    for (const ifaddrs* each = interfaces; each != nullptr; each = each->ifa_next) ++count;
    EXPECT_EQ(count, 4);
    ::freeifaddrs(interfaces);
  });
}

TEST_F(ServedCalls, KnowServicesByNameAndByPort) {
  run_alone([] {
    const servent* const http = ::getservbyname("http", "tcp");
    ASSERT_NE(http, nullptr);
    EXPECT_EQ(ntohs(static_cast<std::uint16_t>(http->s_port)), 80);
    EXPECT_STREQ(http->s_proto, "tcp");
    EXPECT_EQ(http->s_aliases[0], nullptr);
    EXPECT_EQ(::getservbyname("80", nullptr), nullptr);
    EXPECT_EQ(::getservbyname("nothing", nullptr), nullptr);
    servent entry = {};
    std::array<char, 200> buffer{};
    servent* found = nullptr;
    EXPECT_EQ(::getservbyport_r(htons(443), "tcp", &entry, buffer.data(), buffer.size(), &found),
              0);
    ASSERT_EQ(found, &entry);
    EXPECT_STREQ(found->s_name, "https");
    EXPECT_EQ(::getservbyport_r(htons(443), "tcp", &entry, buffer.data(), 3, &found), ERANGE);
    EXPECT_EQ(::getservbyport(htons(4), nullptr), nullptr);
  });
}

// --- random numbers ---

TEST_F(ServedCalls, RandomNumbersAreTheSeedsAndThoseOfRandTheLibrarys) {
  std::srand(7);
  const std::vector<int> expected = {std::rand(), std::rand(), std::rand()};
  const auto draw = [&](std::uint64_t seed) {
    std::uint64_t drawn = 0;
    begin(seed);
    run_alone([&] {
      EXPECT_EQ(::getrandom(&drawn, sizeof drawn, 0), ssize_t{8});
      std::srand(7);
      EXPECT_EQ((std::vector<int>{std::rand(), std::rand(), std::rand()}), expected);
    });
    return drawn;
  };
  const std::uint64_t first = draw(1);
  EXPECT_EQ(draw(1), first);
  EXPECT_NE(draw(2), first);
}

TEST_F(ServedCalls, RandomNumbersAreDifferentWhereNothingVaries) {
  std::set<std::uint64_t> drawn = {0};
  begin(1, FaultSet::none(), "calm");
  for (const char* name : {"a", "b"}) {
    world_->node(name, [&] {
      for (int i = 0; i < 3; ++i) {
        std::uint64_t number = 0;
        EXPECT_EQ(::getrandom(&number, sizeof number, 0), ssize_t{8});
        drawn.insert(number);
      }
    });
  }
  run();
  EXPECT_EQ(drawn.size(), 7u);
}

// --- descriptors ---

TEST_F(ServedCalls, NoMoreDescriptorsAreOpenThanASystemAllows) {
  run_alone([] {
    std::vector<int> opened;
    int next = 0;
    while ((next = ::eventfd(0, 0)) >= 0) opened.push_back(next);
    EXPECT_EQ(errno, EMFILE);
    EXPECT_EQ(opened.front(), 3);
    EXPECT_EQ(opened.back(), 1023);
    for (const int each : opened) EXPECT_EQ(::close(each), 0);
  });
}

TEST_F(ServedCalls, AnEpollKeepsWhatADuplicateKeepsOpen) {
  run_alone([] {
    const int epoll = ::epoll_create1(0);
    const int counter = ::eventfd(1, 0);
    epoll_event event = {.events = EPOLLIN, .data = {.u32 = 42}};
    ASSERT_EQ(::epoll_ctl(epoll, EPOLL_CTL_ADD, counter, &event), 0);
    const int duplicate = ::dup(counter);
    EXPECT_EQ(::close(counter), 0);
    epoll_event told = {};
    EXPECT_EQ(::epoll_wait(epoll, &told, 1, 0), 1);
    EXPECT_EQ(told.data.u32, 42u);
    EXPECT_EQ(::epoll_ctl(epoll, EPOLL_CTL_DEL, counter, nullptr), -1);
    EXPECT_EQ(errno, EBADF);
    EXPECT_EQ(::close(duplicate), 0);
    EXPECT_EQ(::epoll_wait(epoll, &told, 1, 0), 0);
  });
}

}  // namespace
}  // namespace fermata::sim
