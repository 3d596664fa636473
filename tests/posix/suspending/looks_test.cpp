// SPDX-License-Identifier: Apache-2.0

// Descriptors that were made inside of a scope: they look as if they block, everywhere.

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <thread>

#include "fermata/sync/await.hpp"
#include "fermata/system/system_calls.hpp"
#include "tests/posix/suspending/fixture.hpp"

namespace fermata {
namespace {

using posix::suspending;
using test::any;
using test::loopback;
using test::Pipe;
using test::read_some;
using test::told;
using test::Told;

class SuspendingLooks : public test::OnEachDriver {};
INSTANTIATE_TEST_SUITE_P(Drivers, SuspendingLooks, test::every_driver(), test::driver_name);

bool looks_blocking(int descriptor) { return (::fcntl(descriptor, F_GETFL) & O_NONBLOCK) == 0; }

bool blocks(int descriptor) { return (os::kernel.fcntl(descriptor, F_GETFL) & O_NONBLOCK) == 0; }

TEST_P(SuspendingLooks, EachLooksAsItsUserAskedForAndDoesNotBlock) {
  run([] {
    suspending([] {
      for (const int asked : {0, static_cast<int>(SOCK_NONBLOCK)}) {
        std::array<int, 4> made{};
        std::array<int, 2> ends{};
        made[0] = ::socket(AF_INET, SOCK_STREAM | asked, 0);
        made[1] = ::eventfd(0, asked == 0 ? 0 : EFD_NONBLOCK);
        ASSERT_EQ(::pipe2(ends.data(), asked == 0 ? 0 : O_NONBLOCK), 0);
        made[2] = ends[0];
        made[3] = ends[1];
        for (const int each : made) {
          EXPECT_EQ(looks_blocking(each), asked == 0);
          EXPECT_FALSE(blocks(each));
          EXPECT_EQ(::close(each), 0);
        }
      }
    });
  });
}

TEST_P(SuspendingLooks, TheLookCanBeChanged) {
  run([] {
    const auto pipe = suspending([] { return std::make_unique<Pipe>(); });
    char byte = 0;
    int on = 1;
    EXPECT_EQ(::ioctl(pipe->reading, FIONBIO, &on), 0);
    EXPECT_FALSE(looks_blocking(pipe->reading));
    EXPECT_EQ(told(::read(pipe->reading, &byte, 1)), (Told{-1, EAGAIN}));
    on = 0;
    EXPECT_EQ(::ioctl(pipe->reading, FIONBIO, &on), 0);
    EXPECT_TRUE(looks_blocking(pipe->reading));
    suspending([&] {
      const int flags = ::fcntl(pipe->reading, F_GETFL);
      EXPECT_EQ(::fcntl(pipe->reading, F_SETFL, flags | O_NONBLOCK), 0);
      EXPECT_EQ(told(::read(pipe->reading, &byte, 1)), (Told{-1, EAGAIN}));
      EXPECT_EQ(::fcntl(pipe->reading, F_SETFL, flags), 0);
      EXPECT_TRUE(looks_blocking(pipe->reading));
      EXPECT_FALSE(blocks(pipe->reading));
    });
  });
}

TEST_P(SuspendingLooks, DuplicatesShareIt) {
  run([] {
    suspending([] {
      const Pipe pipe;
      const std::array copies = {::dup(pipe.reading), ::fcntl(pipe.reading, F_DUPFD_CLOEXEC, 0),
                                 ::dup3(pipe.reading, 200, O_CLOEXEC), ::dup2(pipe.reading, 201)};
      for (const int each : copies) EXPECT_TRUE(looks_blocking(each)) << each;
      int on = 1;
      ASSERT_EQ(::ioctl(copies[0], FIONBIO, &on), 0);
      for (const int each : copies) EXPECT_FALSE(looks_blocking(each)) << each;
      for (const int each : copies) EXPECT_EQ(::close(each), 0);
      EXPECT_FALSE(looks_blocking(pipe.reading));
      EXPECT_TRUE(looks_blocking(pipe.writing));
    });
  });
}

TEST_P(SuspendingLooks, AnAcceptedSocketHasOneToo) {
  run([] {
    suspending([] {
      const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
      sockaddr_in address = loopback();
      ASSERT_EQ(::bind(listener, any(address), sizeof address), 0);
      ASSERT_EQ(::listen(listener, 4), 0);
      socklen_t size = sizeof address;
      ASSERT_EQ(::getsockname(listener, any(address), &size), 0);
      const int client = ::socket(AF_INET, SOCK_STREAM, 0);
      ASSERT_EQ(::connect(client, any(address), sizeof address), 0);
      const int accepted = ::accept(listener, nullptr, nullptr);
      EXPECT_TRUE(looks_blocking(accepted));
      EXPECT_FALSE(blocks(accepted));
      for (const int each : {listener, client, accepted}) EXPECT_EQ(::close(each), 0);
    });
  });
}

TEST_P(SuspendingLooks, ADescriptorThatIsSentToASocketKeepsIt) {
  run([] {
    suspending([] {
      const Pipe way(true);
      const int sent = ::socket(AF_INET, SOCK_STREAM, 0);
      char byte = 'x';
      iovec piece = {&byte, 1};
      alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> room{};
      msghdr message = {};
      message.msg_iov = &piece;
      message.msg_iovlen = 1;
      message.msg_control = room.data();
      message.msg_controllen = room.size();
      cmsghdr* const control = CMSG_FIRSTHDR(&message);
      control->cmsg_level = SOL_SOCKET;
      control->cmsg_type = SCM_RIGHTS;
      control->cmsg_len = CMSG_LEN(sizeof(int));
      std::memcpy(CMSG_DATA(control), &sent, sizeof(int));
      ASSERT_EQ(told(::sendmsg(way.writing, &message, 0)), (Told{1, 0}));
      EXPECT_EQ(::close(sent), 0);
      message.msg_controllen = room.size();
      ASSERT_EQ(told(::recvmsg(way.reading, &message, 0)), (Told{1, 0}));
      int received = -1;
      std::memcpy(&received, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(int));
      EXPECT_TRUE(looks_blocking(received));
      EXPECT_EQ(::close(received), 0);
    });
  });
}

// A thread of the program, which is in no scope.
TEST_P(SuspendingLooks, OutsideOfAScopeACallBlocksItsThread) {
  run([] {
    for (const bool is_socket : {false, true}) {
      const auto pipe = suspending([&] { return std::make_unique<Pipe>(is_socket); });
      std::string received;
      std::thread reader([&] {
        received = read_some(pipe->reading);
        char byte = 'b';
        EXPECT_EQ(told(::write(pipe->writing, &byte, 1)), (Told{1, 0}));
      });
      EXPECT_EQ(told(::write(pipe->writing, "a", 1)), (Told{1, 0}));
      reader.join();
      EXPECT_EQ(received, "a");
    }
  });
}

TEST_P(SuspendingLooks, ACloseEndsIt) {
  run([] {
    const int closed = suspending([] {
      const Pipe pipe;
      return pipe.reading;
    });
    // The lowest number that is free, so the same one; closed where nobody has seen it.
    const int next = suspending([] { return ::socket(AF_INET, SOCK_DGRAM, 0); });
    EXPECT_EQ(next, closed);
    os::kernel.close(next);
    const Pipe pipe;
    EXPECT_EQ(pipe.reading, closed);
    EXPECT_TRUE(blocks(pipe.reading));
    EXPECT_TRUE(looks_blocking(pipe.reading));
    int on = 1;
    EXPECT_EQ(::ioctl(pipe.reading, FIONBIO, &on), 0);
    EXPECT_FALSE(blocks(pipe.reading));
  });
}

TEST_P(SuspendingLooks, AChildThatIsForkedHasItBlocking) {
  run([] {
    suspending([] {
      const Pipe pipe;
      const pid_t child = ::fork();
      if (child == 0) ::_exit(blocks(pipe.reading) && looks_blocking(pipe.reading) ? 0 : 1);
      int status = -1;
      ASSERT_EQ(::waitpid(child, &status, 0), child);
      EXPECT_EQ(status, 0);
      // The parent goes on, by polling.
      EXPECT_TRUE(looks_blocking(pipe.reading));
      const auto writer = spawn([&] { suspending([&] { ::write(pipe.writing, "a", 1); }); });
      EXPECT_EQ(read_some(pipe.reading), "a");
      await(writer);
    });
  });
}

}  // namespace
}  // namespace fermata
