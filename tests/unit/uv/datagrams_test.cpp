// SPDX-License-Identifier: Apache-2.0

// Datagrams on libuv when the system would block. That does not happen on a loopback interface, so
// this program has a sendmsg of its own, which libuv calls for what it tries at once.

#include "fermata/uv/datagrams.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <span>
#include <string>
#include <string_view>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/io/udp.hpp"
#include "fermata/sync/await.hpp"
#include "fermata/uv/reactor.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/main_test.hpp"

namespace {

int send_code = 0;  // What sendmsg fails with; 0 for nothing.

}  // namespace

extern "C" ssize_t sendmsg(int descriptor, const msghdr* message, int flags) {
  if (send_code != 0) {
    errno = send_code;
    return -1;
  }
  return syscall(SYS_sendmsg, descriptor, message, flags);
}

namespace fermata {
namespace {

using test::bytes_of;

class UvDatagrams : public ::testing::Test {
 protected:
  ~UvDatagrams() override { send_code = 0; }

  template <class Body>
  static void run(Body body) {
    Runtime runtime(uv::make_reactor(), {.handle_stop_signals = false});
    EXPECT_EQ(runtime.run(body), 0);
  }
};

std::string receive_text(UdpSocket& socket) {
  std::array<char, 100> buffer;
  const Datagram got = socket.receive(std::as_writable_bytes(std::span(buffer)));
  return std::string(buffer.data(), got.size);
}

MAIN_TEST_F(UvDatagrams, WaitAndKeepTheirOrderWhenTheSystemWouldBlock) {
  FERMATA_CHECKS("IO-01", "IO-13");
  UdpSocket a = UdpSocket::bind({"127.0.0.1", 0});
  UdpSocket b = UdpSocket::bind({"127.0.0.1", 0});
  send_code = EAGAIN;
  EXPECT_FALSE(a.try_send_to("refused", b.local_address()));
  backend::SendRequest first(a.handle(), bytes_of("first"), b.local_address());
  backend::SendRequest second(a.handle(), bytes_of("second"), b.local_address());
  send_code = 0;
  EXPECT_FALSE(a.try_send_to("would overtake", b.local_address()));
  EXPECT_FALSE(first.is_completed());
  wait(first);
  wait(second);
  EXPECT_TRUE(a.try_send_to("third", b.local_address()));
  for (const char* text : {"first", "second", "third"}) EXPECT_EQ(receive_text(b), text);
}

MAIN_TEST_F(UvDatagrams, CloseFailsASendThatWaits) {
  FERMATA_CHECKS("IO-06");
  UdpSocket a = UdpSocket::bind({"127.0.0.1", 0});
  send_code = EAGAIN;
  auto sender = spawn("sender", [&] { a.send_to("x", {"127.0.0.1", 9}); });
  suspend();
  a.close();
  try {
    await(sender);
    ADD_FAILURE() << "sent";
  } catch (const InputOutputError& error) {
    EXPECT_STREQ(error.what(), "Stream was closed");
  }
}

MAIN_TEST_F(UvDatagrams, AnErrorNamesTheDestination) {
  UdpSocket a = UdpSocket::bind({"127.0.0.1", 0});
  send_code = ENETUNREACH;
  try {
    a.send_to("x", {"127.0.0.1", 9});
    ADD_FAILURE() << "sent";
  } catch (const InputOutputError& error) {
    EXPECT_STREQ(error.what(), "send to 127.0.0.1:9: Network is unreachable");
  }
}

}  // namespace
}  // namespace fermata
