// SPDX-License-Identifier: Apache-2.0

// Descriptors that come through a Unix socket: SCM_RIGHTS.

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

constexpr std::size_t kMostPassed = 8;

/// What sendmsg() returns.
ssize_t pass(int socket, const std::string& text, std::initializer_list<int> descriptors) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostPassed * sizeof(int))> control{};
  iovec piece = {const_cast<char*>(text.data()), text.size()};
  msghdr message = {};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = CMSG_SPACE(descriptors.size() * sizeof(int));
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
  std::memcpy(CMSG_DATA(header), descriptors.begin(), descriptors.size() * sizeof(int));
  return ::sendmsg(socket, &message, MSG_NOSIGNAL);
}

struct Passed {
  std::string text;
  std::vector<int> descriptors;
  int flags = 0;
};

Passed take(int socket, std::size_t room = kMostPassed, int flags = 0, std::size_t most = 100) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostPassed * sizeof(int))> control{};
  std::string text(most, ' ');
  iovec piece = {text.data(), text.size()};
  msghdr message = {};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = room == 0 ? nullptr : control.data();
  message.msg_controllen = room == 0 ? 0 : CMSG_LEN(room * sizeof(int));
  const ssize_t size = ::recvmsg(socket, &message, flags);
  if (size < 0) return {std::to_string(errno), {}, -1};
  Passed passed{text.substr(0, static_cast<std::size_t>(size)), {}, message.msg_flags};
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (header == nullptr) return passed;
  EXPECT_EQ(header->cmsg_type, SCM_RIGHTS);
  passed.descriptors.resize((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
  std::memcpy(passed.descriptors.data(), CMSG_DATA(header),
              passed.descriptors.size() * sizeof(int));
  return passed;
}

std::array<int, 2> pair_of(int type) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::socketpair(AF_UNIX, type, 0, ends.data()), 0);
  return ends;
}

class PassedDescriptors : public test::WorldFixture {
 protected:
  void run_alone(std::function<void()> body) {
    world_->node("main", std::move(body));
    run();
  }
};

TEST_F(PassedDescriptors, ReferToWhatWasSent) {
  run_alone([] {
    for (const int type : {SOCK_STREAM, SOCK_DGRAM}) {
      const std::array<int, 2> ends = pair_of(type);
      const int file = ::open("/file", O_RDWR | O_CREAT | O_TRUNC, 0600);
      EXPECT_EQ(::write(file, "abcdef", 6), 6);
      EXPECT_EQ(::lseek(file, 2, SEEK_SET), 2);
      EXPECT_EQ(pass(ends[0], "x", {file, file}), 1);
      EXPECT_EQ(::close(file), 0);
      const Passed passed = take(ends[1]);
      EXPECT_EQ(passed.text, "x");
      EXPECT_EQ(passed.flags, 0);
      ASSERT_EQ(passed.descriptors.size(), 2u);
      EXPECT_EQ(passed.descriptors[0], file);  // The lowest one that is free.
      char letter = 0;
      EXPECT_EQ(::read(passed.descriptors[0], &letter, 1), 1);
      EXPECT_EQ(letter, 'c');
      EXPECT_EQ(::read(passed.descriptors[1], &letter, 1), 1);
      EXPECT_EQ(letter, 'd');
      EXPECT_EQ(::fcntl(passed.descriptors[0], F_GETFD), 0);
      for (const int each : passed.descriptors) ::close(each);
      for (const int each : ends) ::close(each);
    }
  });
}

TEST_F(PassedDescriptors, KeepTheirRegistrations) {
  run_alone([] {
    const std::array<int, 2> ends = pair_of(SOCK_STREAM);
    const int counter = ::eventfd(0, EFD_NONBLOCK);
    const int epoll = ::epoll_create1(0);
    epoll_event event = {.events = EPOLLIN, .data = {.u64 = 5}};
    EXPECT_EQ(::epoll_ctl(epoll, EPOLL_CTL_ADD, counter, &event), 0);
    pass(ends[0], "x", {counter});
    ::close(counter);
    const Passed passed = take(ends[1]);
    ASSERT_EQ(passed.descriptors.size(), 1u);
    EXPECT_EQ(::eventfd_write(passed.descriptors[0], 1), 0);
    EXPECT_EQ(::epoll_wait(epoll, &event, 1, 0), 1);
    EXPECT_EQ(event.data.u64, 5u);
    EXPECT_NE(::fcntl(passed.descriptors[0], F_GETFL) & O_NONBLOCK, 0);
    ::close(passed.descriptors[0]);
    EXPECT_EQ(::epoll_wait(epoll, &event, 1, 0), 0);
    for (const int each : {epoll, ends[0], ends[1]}) ::close(each);
  });
}

TEST_F(PassedDescriptors, AreTruncatedToTheRoomThatThereIs) {
  run_alone([] {
    const std::array<int, 2> ends = pair_of(SOCK_STREAM);
    const std::array<int, 2> tube = [] {
      std::array<int, 2> made{};
      EXPECT_EQ(::pipe(made.data()), 0);
      return made;
    }();
    pass(ends[0], "x", {tube[0], tube[1]});
    ::close(tube[1]);
    const Passed one = take(ends[1], 1, MSG_CMSG_CLOEXEC);
    ASSERT_EQ(one.descriptors.size(), 1u);
    EXPECT_EQ(one.flags, MSG_CTRUNC | MSG_CMSG_CLOEXEC);
    EXPECT_EQ(::fcntl(one.descriptors[0], F_GETFD), FD_CLOEXEC);
    char byte = 0;
    EXPECT_EQ(::read(tube[0], &byte, 1), 0);  // Nobody has the other end any more.
    pass(ends[0], "y", {tube[0]});
    EXPECT_EQ(take(ends[1], 0).flags, MSG_CTRUNC);
    pass(ends[0], "z", {tube[0]});
    EXPECT_EQ(::read(ends[1], &byte, 1), 1);
    for (const int each : {one.descriptors[0], tube[0], ends[0], ends[1]}) ::close(each);
  });
}

// As on Linux: they come with the first byte of their message, and end what is read at once.
TEST_F(PassedDescriptors, StandAtTheirPlaceInAStream) {
  run_alone([] {
    const std::array<int, 2> ends = pair_of(SOCK_STREAM);
    ::write(ends[0], "before", 6);
    pass(ends[0], "with", {0});
    ::write(ends[0], "after", 5);
    const Passed first = take(ends[1]);
    EXPECT_EQ(first.text, "beforewith");
    EXPECT_EQ(first.descriptors.size(), 1u);
    EXPECT_EQ(take(ends[1]).text, "after");
    pass(ends[0], "long", {0});
    ::write(ends[0], "after", 5);
    const Passed peeked = take(ends[1], 1, MSG_PEEK, 2);
    EXPECT_EQ(peeked.text, "lo");
    EXPECT_EQ(peeked.descriptors.size(), 1u);
    const Passed part = take(ends[1], 1, 0, 2);
    EXPECT_EQ(part.descriptors.size(), 1u);
    const Passed rest = take(ends[1]);
    EXPECT_EQ(rest.text, "ngafter");
    EXPECT_TRUE(rest.descriptors.empty());
    for (const int each : {first.descriptors[0], peeked.descriptors[0], part.descriptors[0]}) {
      EXPECT_EQ(::close(each), 0);
    }
    for (const int each : ends) ::close(each);
  });
}

TEST_F(PassedDescriptors, AreClosedWithTheSocketThatShouldReceiveThem) {
  run_alone([] {
    for (const int type : {SOCK_STREAM, SOCK_DGRAM}) {
      const std::array<int, 2> ends = pair_of(type);
      const std::array<int, 2> others = pair_of(SOCK_STREAM);
      pass(ends[0], "x", {others[0]});
      ::close(others[0]);
      char byte = 0;
      EXPECT_EQ(::recv(others[1], &byte, 1, MSG_DONTWAIT), -1);
      ::close(ends[1]);
      EXPECT_EQ(::recv(others[1], &byte, 1, MSG_DONTWAIT), 0);
      for (const int each : {ends[0], others[1]}) ::close(each);
    }
  });
}

TEST_F(PassedDescriptors, MayPassThroughThemselves) {
  run_alone([] {
    for (const int type : {SOCK_STREAM, SOCK_DGRAM}) {
      const std::array<int, 2> ends = pair_of(type);
      pass(ends[0], "x", {ends[1]});
      for (const int each : ends) ::close(each);
    }
  });
}

TEST_F(PassedDescriptors, MustBeOpen) {
  run_alone([] {
    const std::array<int, 2> ends = pair_of(SOCK_STREAM);
    EXPECT_EQ(pass(ends[0], "x", {0, 99}), -1);
    EXPECT_EQ(errno, EBADF);
    char byte = 0;
    EXPECT_EQ(::recv(ends[1], &byte, 1, MSG_DONTWAIT), -1);
    EXPECT_EQ(errno, EAGAIN);
    for (const int each : ends) ::close(each);
  });
}

TEST_F(PassedDescriptors, GoToOtherProcesses) {
  std::string heard;
  run_alone([&] {
    sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "@passing"};
    address.sun_path[0] = '\0';
    const auto* const place = reinterpret_cast<const sockaddr*>(&address);
    const int listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
    ASSERT_EQ(::bind(listener, place, sizeof address), 0);
    ASSERT_EQ(::listen(listener, 1), 0);
    begin_process("receiver", [&, place] {
      const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
      EXPECT_EQ(::connect(socket, place, sizeof address), 0);
      const Passed passed = take(socket);
      ASSERT_EQ(passed.descriptors.size(), 1u);
      EXPECT_EQ(::write(passed.descriptors[0], "hello", 5), 5);
    });
    const int socket = ::accept(listener, nullptr, nullptr);
    std::array<int, 2> tube{};
    ASSERT_EQ(::pipe(tube.data()), 0);
    EXPECT_EQ(pass(socket, "x", {tube[1]}), 1);
    ::close(tube[1]);
    std::array<char, 16> buffer{};
    for (ssize_t size = 0; (size = ::read(tube[0], buffer.data(), buffer.size())) > 0;) {
      heard.append(buffer.data(), static_cast<std::size_t>(size));
    }
    for (const int each : {listener, socket, tube[0]}) ::close(each);
  });
  EXPECT_EQ(heard, "hello");
}

TEST_F(PassedDescriptors, AreClosedWithTheListenerThatHasNotAcceptedTheirConnection) {
  run_alone([] {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, "/listener");
    const auto* const name = reinterpret_cast<const sockaddr*>(&address);
    const int listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
    ASSERT_EQ(::bind(listener, name, sizeof address), 0);
    ASSERT_EQ(::listen(listener, 1), 0);
    const int client = ::socket(AF_UNIX, SOCK_STREAM, 0);
    ASSERT_EQ(::connect(client, name, sizeof address), 0);
    const std::array<int, 2> others = pair_of(SOCK_STREAM);
    EXPECT_EQ(pass(client, "x", {others[0]}), 1);
    ::close(others[0]);
    ::close(listener);
    char byte = 0;
    EXPECT_EQ(::recv(others[1], &byte, 1, MSG_DONTWAIT), 0);
    for (const int each : {client, others[1]}) ::close(each);
  });
}

TEST_F(PassedDescriptors, StandInMemoryThatThereIs) {
  run_alone([] {
    const std::array<int, 2> ends = pair_of(SOCK_STREAM);
    char byte = 'x';
    iovec piece = {&byte, 1};
    msghdr message = {};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_controllen = CMSG_SPACE(sizeof(int));
    EXPECT_EQ(::sendmsg(ends[0], &message, 0), -1);
    EXPECT_EQ(errno, EFAULT);
    for (const int each : ends) ::close(each);
  });
}

}  // namespace
}  // namespace fermata::sim
