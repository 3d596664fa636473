// SPDX-License-Identifier: Apache-2.0

// Calls by number do what the functions do that make them.

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

class SystemCalls : public test::WorldFixture {
 protected:
  void run_alone(std::function<void()> body) {
    world_->node("main", std::move(body));
    run();
  }
};

TEST_F(SystemCalls, ReachFiles) {
  run_alone([] {
    const int file = ::open("/file", O_RDWR | O_CREAT, 0644);
    std::array<char, 4> text = {'a', 'b', 'c', 'd'};
    const std::array<iovec, 2> pieces = {iovec{text.data(), 2}, iovec{text.data() + 2, 2}};
    EXPECT_EQ(::syscall(SYS_pwritev, file, pieces.data(), 2, 3L, 0L), 4);
    struct statx status = {};
    EXPECT_EQ(::syscall(SYS_statx, AT_FDCWD, "/file", 0, STATX_ALL, &status), 0);
    EXPECT_EQ(status.stx_size, 7u);
    text = {};
    EXPECT_EQ(::syscall(SYS_preadv, file, pieces.data(), 2, 4L, 0L), 3);
    EXPECT_EQ(std::string_view(text.data()), "bcd");

    const int copy = ::open("/copy", O_RDWR | O_CREAT, 0644);
    off64_t from = 5;
    EXPECT_EQ(::syscall(SYS_copy_file_range, file, &from, copy, nullptr, 10UL, 0U), 2);
    EXPECT_EQ(from, 7);
    EXPECT_EQ(::syscall(SYS_dup3, copy, 40, O_CLOEXEC), 40);
    EXPECT_EQ(::fcntl(40, F_GETFD), FD_CLOEXEC);
    EXPECT_EQ(::syscall(SYS_close, 40), 0);
    EXPECT_EQ(::syscall(SYS_close, 40), -1);
    EXPECT_EQ(errno, EBADF);
    EXPECT_EQ(::syscall(SYS_statx, AT_FDCWD, "/missing", 0, STATX_ALL, &status), -1);
    EXPECT_EQ(errno, ENOENT);
  });
}

TEST_F(SystemCalls, CopyALongRangeAtOnce) {
  run_alone([] {
    const int source = ::open("/source", O_RDWR | O_CREAT, 0644);
    const int target = ::open("/target", O_RDWR | O_CREAT, 0644);
    EXPECT_EQ(::ftruncate(source, 200'000), 0);
    EXPECT_EQ(::copy_file_range(source, nullptr, target, nullptr, 300'000, 0), 200'000);
    EXPECT_EQ(::lseek(target, 0, SEEK_END), 200'000);
  });
}

TEST_F(SystemCalls, SendAndReceiveSeveralDatagrams) {
  run_alone([] {
    std::array<int, 2> ends{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_DGRAM, 0, ends.data()), 0);
    std::array<char, 4> text = {'a', 'b', 'c', 'd'};
    std::array<iovec, 2> pieces = {iovec{text.data(), 3}, iovec{text.data() + 3, 1}};
    std::array<mmsghdr, 2> messages = {};
    for (std::size_t i = 0; i < 2; ++i) {
      messages[i].msg_hdr.msg_iov = &pieces[i];
      messages[i].msg_hdr.msg_iovlen = 1;
    }
    EXPECT_EQ(::syscall(SYS_sendmmsg, ends[0], messages.data(), 2U, 0), 2);
    EXPECT_EQ(messages[0].msg_len, 3u);
    text = {};
    EXPECT_EQ(::syscall(SYS_recvmmsg, ends[1], messages.data(), 2U, 0, nullptr), 2);
    EXPECT_EQ(messages[1].msg_len, 1u);
    EXPECT_EQ(std::string_view(text.data(), 4), "abcd");
  });
}

TEST_F(SystemCalls, ASetOfSignalsIsInMemoryThatThereIs) {
  run_alone([] {
    EXPECT_EQ(::syscall(SYS_signalfd4, -1L, 0L, 8L, 0L), -1);
    EXPECT_EQ(errno, EFAULT);
    EXPECT_EQ(::syscall(SYS_signalfd4, -1L, 0L, 4L, 0L), -1);
    EXPECT_EQ(errno, EINVAL);
  });
}

}  // namespace
}  // namespace fermata::sim
