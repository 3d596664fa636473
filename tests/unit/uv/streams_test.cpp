// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/socket.h>

#include "fermata/io/tcp.hpp"
#include "fermata/system/system_calls.hpp"
#include "tests/conformance/reading.hpp"
#include "tests/conformance/uv_arm.hpp"
#include "tests/support/main_test.hpp"

namespace fermata {
namespace {

using conformance::read_exactly;
using conformance::UvArm;

/// Counts the system calls that the runtime sends and receives with.
class UvStreams : public ::testing::Test, protected UvArm {
 protected:
  UvStreams() { sends = receives = 0; }

  static inline int sends = 0;
  static inline int receives = 0;

 private:
  static os::SystemCalls counting() {
    os::SystemCalls calls;
    calls.send = [](int socket, const void* data, size_t size, int flags) {
      ++sends;
      return ::send(socket, data, size, flags);
    };
    calls.recv = [](int socket, void* buffer, size_t size, int flags) {
      ++receives;
      return ::recv(socket, buffer, size, flags);
    };
    return calls;
  }

  os::ReplacedKernel replaced_{counting()};
};

MAIN_TEST_F(UvStreams, TcpCallsSendAndRecvOnceForAMessage) {
  auto listener = TcpListener::bind({"127.0.0.1", 0});
  auto client = TcpStream::connect(listener.local_address());
  auto server = listener.accept();
  ASSERT_TRUE(server);
  for (int i = 1; i <= 3; ++i) {
    client.write("ping");
    EXPECT_EQ(read_exactly(*server, 4), "ping");
    EXPECT_EQ(sends, i);
    EXPECT_EQ(receives, i);
  }
}

}  // namespace
}  // namespace fermata
