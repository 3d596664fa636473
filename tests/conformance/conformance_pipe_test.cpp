// SPDX-License-Identifier: Apache-2.0

// What only Unix sockets and anonymous pipes have; what all connections do is in the bodies about
// streams and listeners.

#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/sync/await.hpp"
#include "tests/conformance/main_typed_test.hpp"
#include "tests/conformance/reading.hpp"
#include "tests/conformance/transports.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/error_of.hpp"

namespace fermata::conformance {
namespace {

using namespace std::chrono_literals;
using test::error_of;

template <class Arm>
class PipeTest : public ::testing::Test {};
TYPED_TEST_SUITE(PipeTest, Arms);

MAIN_TYPED_TEST(PipeTest, APathWithoutASocketIsNotFound) {
  const std::string path = OverPipe::fresh_path();
  EXPECT_EQ(error_of([&] { (void)PipeStream::connect(path); }, ENOENT),
            "connect to " + path + ": No such file or directory");
}

MAIN_TYPED_TEST(PipeTest, ThePathGoesWithItsListener) {
  const std::string path = OverPipe::fresh_path();
  for (int i = 0; i < 2; ++i) {
    const PipeListener listener = PipeListener::bind(path);
    const PipeStream client = PipeStream::connect(path);
    EXPECT_TRUE(client.is_open());
  }
  EXPECT_EQ(error_of([&] { (void)PipeStream::connect(path); }, ENOENT),
            "connect to " + path + ": No such file or directory");
}

MAIN_TYPED_TEST(PipeTest, APathInUseIsRefusedAndStaysInUse) {
  const std::string path = OverPipe::fresh_path();
  const PipeListener listener = PipeListener::bind(path);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(error_of([&] { (void)PipeListener::bind(path); }, EADDRINUSE),
              "listen at " + path + ": Address already in use");
  }
  EXPECT_TRUE(PipeStream::connect(path).is_open());
}

MAIN_TYPED_TEST(PipeTest, APathThatCannotBeOneIsTheCallersMistake) {
  EXPECT_EQ(error_of([] { (void)PipeStream::connect(""); }, 0),
            "path of a Unix socket: expected at least one character");
  const std::string long_path(108, 'x');
  EXPECT_EQ(error_of([&] { (void)PipeListener::bind(long_path); }, 0),
            "path of a Unix socket '" + long_path + "': expected at most 107 bytes, not 108");
  EXPECT_EQ(error_of([] { (void)PipeStream::connect(std::string_view("a\0b", 3)); }, 0),
            "path of a Unix socket 'a': expected no NUL, there is one at 1");
}

MAIN_TYPED_TEST(PipeTest, WhoWritesToAnEndThatIsGoneFails) {
  Connected<OverPipe> pair;
  pair.server.reset();
  delay(1ms);
  EXPECT_EQ(error_of([&] { pair.client->write("x"); }, EPIPE), "write: Broken pipe");
}

MAIN_TYPED_TEST(PipeTest, AnAnonymousPipeCarriesBytesToTheEnd) {
  PipeEnds pipe = open_pipe();
  EXPECT_EQ(pipe.reader.handle().io_type(), backend::IoType::Pipe);
  auto reader = spawn("reader", [&] { return read_text(pipe.reader); });
  suspend();
  pipe.writer.write("through");
  EXPECT_EQ(await(reader), "through");
  pipe.writer.write("last");
  pipe.writer.close();
  EXPECT_EQ(read_text(pipe.reader), "last");
  EXPECT_EQ(read_text(pipe.reader), "");
}

TYPED_TEST(PipeTest, AnAnonymousPipeHasOneDirection) {
  TypeParam::run([] {
    PipeEnds pipe = open_pipe();
    EXPECT_EQ(error_of([&] { read_text(pipe.writer); }, 0),
              "read: this is the writing end of a pipe");
    EXPECT_EQ(error_of([&] { pipe.reader.write("x"); }, 0),
              "write: this is the reading end of a pipe");
    EXPECT_EQ(error_of([&] { pipe.reader.shutdown_write(); }, 0),
              "shutdown_write: this is the reading end of a pipe");
  });
}

MAIN_TYPED_TEST(PipeTest, AFullPipeHoldsItsWriterUntilSomebodyReads) {
  FERMATA_CHECKS("IO-02", "IO-03");
  PipeEnds pipe = open_pipe();
  const std::vector<std::byte> bytes(1 << 20, std::byte{7});
  bool written = false;
  auto writer = spawn("writer", [&] {
    pipe.writer.write(bytes);
    written = true;
  });
  delay(2ms);
  EXPECT_FALSE(written);
  std::vector<std::byte> got(bytes.size());
  pipe.reader.read_exact(got);
  await(writer);
  EXPECT_EQ(got, bytes);
}

MAIN_TYPED_TEST(PipeTest, AWriterThatIsHeldLearnsThatNobodyWillRead) {
  PipeEnds pipe = open_pipe();
  const std::vector<std::byte> bytes(1 << 20);
  auto writer = spawn("writer", [&] { return error_of([&] { pipe.writer.write(bytes); }, EPIPE); });
  delay(2ms);
  pipe.reader.close();
  EXPECT_EQ(await(writer), "write: Broken pipe");
}

}  // namespace
}  // namespace fermata::conformance
