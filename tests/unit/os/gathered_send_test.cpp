// SPDX-License-Identifier: Apache-2.0
#include "fermata/os/gathered_send.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <string>
#include <string_view>

namespace fermata::os {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

/// Two connected sockets, and a count of the system calls that send.
class GatheredSendTest : public ::testing::Test {
 protected:
  GatheredSendTest() {
    sends = sendmsgs = 0;
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends_.data()), 0);
  }
  ~GatheredSendTest() override {
    for (const int end : ends_) ::close(end);
  }

  void send(const GatheredSend& pieces) {
    EXPECT_EQ(pieces.send(ends_[0], MSG_NOSIGNAL), static_cast<ssize_t>(pieces.size()));
  }
  [[nodiscard]] std::string received() const {
    std::array<char, 256> buffer{};
    const ssize_t size = ::read(ends_[1], buffer.data(), buffer.size());
    return {buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
  }

  static inline int sends = 0;
  static inline int sendmsgs = 0;

 private:
  static SystemCalls counting() {
    SystemCalls calls;
    calls.send = [](int socket, const void* data, size_t size, int flags) {
      ++sends;
      return ::send(socket, data, size, flags);
    };
    calls.sendmsg = [](int socket, const msghdr* message, int flags) {
      ++sendmsgs;
      return ::sendmsg(socket, message, flags);
    };
    return calls;
  }

  std::array<int, 2> ends_{};
  ReplacedKernel replaced_{counting()};
};

TEST_F(GatheredSendTest, SendsOnePieceWithoutAMessage) {
  GatheredSend pieces;
  pieces.add(bytes_of("alone"));
  send(pieces);
  EXPECT_EQ(received(), "alone");
  EXPECT_EQ(sends, 1);
  EXPECT_EQ(sendmsgs, 0);
}

TEST_F(GatheredSendTest, SendsSeveralPiecesInOrderWithOneCall) {
  GatheredSend pieces;
  std::string expected;
  for (const char* text = "abcdefghijklmnop"; *text != '\0'; ++text) {
    EXPECT_GT(pieces.room(), 0u);
    pieces.add(bytes_of({text, 1}));
    expected += *text;
  }
  EXPECT_EQ(pieces.room(), 0u);
  send(pieces);
  EXPECT_EQ(received(), expected);
  EXPECT_EQ(sends, 0);
  EXPECT_EQ(sendmsgs, 1);
}

TEST_F(GatheredSendTest, SaysWhatTheSystemSays) {
  GatheredSend pieces;
  pieces.add(bytes_of("nowhere"));
  EXPECT_EQ(pieces.send(-1, 0), -1);
  EXPECT_EQ(errno, EBADF);
}

}  // namespace
}  // namespace fermata::os
