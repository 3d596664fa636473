// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <string>

#include "fermata/io/file.hpp"
#include "fermata/io/tcp.hpp"
#include "fermata/system/system_calls.hpp"
#include "tests/conformance/reading.hpp"
#include "tests/conformance/scratch_folder.hpp"
#include "tests/conformance/uv_arm.hpp"
#include "tests/support/main_test.hpp"

namespace fermata {
namespace {

using conformance::read_exactly;
using conformance::UvArm;

/// Counts the system calls that the runtime sends and receives with.
class UvStreams : public conformance::ScratchFolder<UvArm>, protected UvArm {
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

MAIN_TEST_F(UvStreams, AFileToALoopbackPeerIsCopiedInPieces) {
  auto listener = TcpListener::bind({"127.0.0.1", 0});
  auto client = TcpStream::connect(listener.local_address());
  auto server = listener.accept();
  ASSERT_TRUE(server);
  const std::string contents(100'000, 'x');
  File file = File::open(path("sent"), {.read = true, .write = true, .create = true});
  file.write(contents);
  EXPECT_EQ(client.send_file(file), contents.size());
  EXPECT_GE(sends, 100'000 / (32 * 1024));
  EXPECT_EQ(read_exactly(*server, contents.size()), contents);
}

}  // namespace
}  // namespace fermata
