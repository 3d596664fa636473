// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/io/file.hpp"
#include "fermata/sync/await.hpp"
#include "tests/conformance/main_typed_test.hpp"
#include "tests/conformance/reading.hpp"
#include "tests/conformance/transports.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/error_of.hpp"

namespace fermata::conformance {

/// The ends of an anonymous pipe are the third kind of stream that files are sent to.
struct OverAnonymousPipe {};

template <>
struct Connected<OverAnonymousPipe> {
  Connected() {
    PipeEnds ends = open_pipe();
    client.emplace(std::move(ends.writer));
    server.emplace(std::move(ends.reader));
  }
  std::optional<PipeStream> server;
  std::optional<PipeStream> client;
};

namespace {

using namespace std::chrono_literals;
using test::error_of;
using test::pattern;

using Targets = ::testing::Types<On<UvArm, OverTcp>, On<SimArm, OverTcp>, On<UvArm, OverPipe>,
                                 On<SimArm, OverPipe>, On<UvArm, OverAnonymousPipe>,
                                 On<SimArm, OverAnonymousPipe>>;

class SentFile {
 public:
  explicit SentFile(bool real) : path_(real ? OverPipe::fresh_path() : "/sent"), real_(real) {}
  ~SentFile() {
    if (real_) std::filesystem::remove(path_);
  }
  SentFile(const SentFile&) = delete;
  SentFile& operator=(const SentFile&) = delete;

 protected:
  /// A file of these contents, open for reading and writing.
  [[nodiscard]] File make(const std::string& contents) const {
    File file = File::open(path_, {.read = true, .write = true, .create = true, .truncate = true});
    file.write(contents);
    return file;
  }

  const std::string path_;

 private:
  const bool real_;
};

template <class Case>
class SendFile : public ::testing::Test {};
TYPED_TEST_SUITE(SendFile, Targets);

MAIN_TYPED_TEST_WITH(SentFile, SendFile, SendsAPartOfAFileAndLeavesItsPosition) {
  FERMATA_CHECKS("IO-14");
  Connected<typename TypeParam::Transport> pair;
  File file = make("0123456789");
  file.seek(2);
  EXPECT_EQ(pair.client->send_file(file, 3, 4), 4u);
  EXPECT_EQ(read_exactly(*pair.server, 4), "3456");
  EXPECT_EQ(file.position(), 2u);
  EXPECT_EQ(pair.client->send_file(file), 10u);
  EXPECT_EQ(read_exactly(*pair.server, 10), "0123456789");
}

MAIN_TYPED_TEST_WITH(SentFile, SendFile, SendsNothingAtOnceAndLessThanAskedWhenTheFileEnds) {
  FERMATA_CHECKS("IO-14");
  Connected<typename TypeParam::Transport> pair;
  File file = make("0123456789");
  bool suspended = false;
  spawn("witness", [&] { suspended = true; });
  EXPECT_EQ(pair.client->send_file(file, 0, 0), 0u);
  EXPECT_FALSE(suspended);
  EXPECT_EQ(pair.client->send_file(file, 7, 100), 3u);
  EXPECT_EQ(pair.client->send_file(file, 10, 5), 0u);
  EXPECT_EQ(pair.client->send_file(file, 1000), 0u);
  pair.client->shutdown_write();
  EXPECT_EQ(read_to_end(*pair.server), "789");
}

MAIN_TYPED_TEST_WITH(SentFile, SendFile, ALargeFileGoesWholeInManyParts) {
  FERMATA_CHECKS("IO-14", "IO-02");
  Connected<typename TypeParam::Transport> pair;
  const std::string contents = pattern(20'000'123);
  File file = make(contents);
  auto sender = spawn("sender", [&] {
    const std::uint64_t sent = pair.client->send_file(file, 100);
    pair.client->shutdown_write();
    return sent;
  });
  const bool same = read_to_end(*pair.server) == contents.substr(100);
  EXPECT_TRUE(same);
  EXPECT_EQ(await(sender), contents.size() - 100);
}

MAIN_TYPED_TEST_WITH(SentFile, SendFile, StandsInLineWithOtherWrites) {
  FERMATA_CHECKS("IO-03");
  Connected<typename TypeParam::Transport> pair;
  const std::string contents = pattern(700'000);
  const std::string before(300'000, 'b');
  File file = make(contents);
  std::vector<Coroutine<>> writers;
  writers.push_back(spawn("before", [&] { pair.client->write(before); }));
  writers.push_back(spawn("first", [&] { pair.client->send_file(file); }));
  writers.push_back(spawn("between", [&] { pair.client->write("between"); }));
  writers.push_back(spawn("second", [&] { pair.client->send_file(file, 5, 10); }));
  writers.push_back(spawn("after", [&] { pair.client->write("after"); }));
  const std::string expected = before + contents + "between" + contents.substr(5, 10) + "after";
  const bool same = read_exactly(*pair.server, expected.size()) == expected;
  EXPECT_TRUE(same);
  for (const auto& each : writers) await(each);
}

MAIN_TYPED_TEST_WITH(SentFile, SendFile, ACancelledOneThatHasBegunGoesOn) {
  FERMATA_CHECKS("IO-03", "IO-14");
  Connected<typename TypeParam::Transport> pair;
  const std::string contents = pattern(9'000'000);
  File file = make(contents);
  EXPECT_THROW((void)pair.client->send_file(file, 0, contents.size(), {.timeout = 5ms}), Timeout);
  auto writer = spawn("writer", [&] { pair.client->write("behind"); });
  const bool same = read_exactly(*pair.server, contents.size()) == contents;
  EXPECT_TRUE(same);
  EXPECT_EQ(read_exactly(*pair.server, 6), "behind");
  await(writer);
}

MAIN_TYPED_TEST_WITH(SentFile, SendFile, ACancelledOneWhoseTurnHasNotComeIsNotSent) {
  FERMATA_CHECKS("IO-03");
  Connected<typename TypeParam::Transport> pair;
  const std::string first = pattern(9'000'000);
  File file = make("never seen");
  auto writer = spawn("writer", [&] { pair.client->write(first); });
  suspend();
  EXPECT_THROW((void)pair.client->send_file(file, 0, 10, {.timeout = 5ms}), Timeout);
  auto last = spawn("last", [&] { pair.client->write("last"); });
  const bool same = read_exactly(*pair.server, first.size()) == first;
  EXPECT_TRUE(same);
  EXPECT_EQ(read_exactly(*pair.server, 4), "last");
  await(writer);
  await(last);
}

MAIN_TYPED_TEST_WITH(SentFile, SendFile, AnAbandonedOneThatLosesItsFileEndsTheWriting) {
  Connected<typename TypeParam::Transport> pair;
  std::optional<File> file = make(pattern(9'000'000));
  EXPECT_THROW((void)pair.client->send_file(*file, 0, 9'000'000, {.timeout = 5ms}), Timeout);
  file.reset();
  auto drain = spawn("drain", [&] { return read_to_end(*pair.server).size(); });
  EXPECT_EQ(error_of([&] { pair.client->write("more"); }), "write: Operation canceled");
  pair.client->close();
  EXPECT_LT(await(drain), 9'000'000u);
}

MAIN_TYPED_TEST_WITH(SentFile, SendFile, AFileThatIsClosedMeanwhileTellsHowFarItWas) {
  Connected<typename TypeParam::Transport> pair;
  std::optional<File> file = make(pattern(9'000'000));
  auto sender = spawn("sender", [&] {
    try {
      (void)pair.client->send_file(*file);
    } catch (const SendFileError& error) {
      EXPECT_EQ(error.code(), EBADF);
      return error.sent();
    }
    return std::uint64_t{9'000'000};
  });
  delay(5ms);
  file->close();
  auto drain = spawn("drain", [&] { return read_to_end(*pair.server).size(); });
  const std::uint64_t sent = await(sender);
  EXPECT_LT(sent, 9'000'000u);
  pair.client->write("the stream goes on");
  pair.client->close();
  EXPECT_EQ(await(drain), sent + 18);
}

MAIN_TYPED_TEST_WITH(SentFile, SendFile, ClosingTheStreamBeforeTheFirstByteEndsIt) {
  FERMATA_CHECKS("IO-06");
  Connected<typename TypeParam::Transport> pair;
  File file = make(pattern(1000));
  const auto sender =
      spawn("sender", [&] { return error_of([&] { (void)pair.client->send_file(file); }); });
  suspend();
  pair.client->close();
  EXPECT_EQ(await(sender), "Stream was closed");
  EXPECT_LE(read_to_end(*pair.server).size(), 1000u);
}

MAIN_TYPED_TEST_WITH(SentFile, SendFile, ClosingTheStreamEndsIt) {
  FERMATA_CHECKS("IO-06");
  Connected<typename TypeParam::Transport> pair;
  File file = make(pattern(9'000'000));
  std::vector<Coroutine<std::string>> senders;
  for (int i = 0; i < 2; ++i) {
    senders.push_back(
        spawn("sender", [&] { return error_of([&] { (void)pair.client->send_file(file); }); }));
  }
  delay(5ms);
  pair.client->close();
  for (const auto& each : senders) EXPECT_EQ(await(each), "Stream was closed");
  EXPECT_EQ(error_of([&] { (void)pair.client->send_file(file); }),
            "Cannot write to closed IO handle");
  std::string start(4, '\0');
  EXPECT_EQ(file.read_at(0, std::as_writable_bytes(std::span(start))), 4u);
}

MAIN_TYPED_TEST_WITH(SentFile, SendFile, AReaderThatGoesAwayFailsIt) {
  Connected<typename TypeParam::Transport> pair;
  File file = make(pattern(9'000'000));
  auto sender = spawn("sender", [&] {
    try {
      (void)pair.client->send_file(file);
    } catch (const SendFileError& error) {
      return error.code();
    }
    return 0;
  });
  delay(5ms);
  pair.server.reset();
  const int code = await(sender);
  EXPECT_TRUE(code == EPIPE || code == ECONNRESET) << code;
  EXPECT_NE(error_of([&] { pair.client->write("more"); }), "no error");
}

MAIN_TYPED_TEST_WITH(SentFile, SendFile, RefusesWhatCannotBe) {
  Connected<typename TypeParam::Transport> pair;
  File file = make("text");
  EXPECT_EQ(error_of([&] { (void)pair.client->send_file(file, ~std::uint64_t{0}); }),
            "send file: offset 18446744073709551615: expected at most 9223372036854775807");
  pair.client->shutdown_write();
  EXPECT_EQ(error_of([&] { (void)pair.client->send_file(file); }),
            "send file " + path_ + " after 0 bytes: Broken pipe");
  Connected<typename TypeParam::Transport> other;
  File written = File::open(path_, OpenMode::writing());
  EXPECT_EQ(error_of([&] { (void)other.client->send_file(written); }),
            "send file " + path_ + " after 0 bytes: Bad file descriptor");
  written.close();
  EXPECT_EQ(error_of([&] { (void)other.client->send_file(written); }),
            "send file " + path_ + " after 0 bytes: Bad file descriptor");
  other.client->write("well");
  EXPECT_EQ(read_exactly(*other.server, 4), "well");
}

TEST(SendFileToPipes, TheReadingEndIsRefused) {
  SimArm::run([] {
    PipeEnds ends = open_pipe();
    File file = File::open("/x", OpenMode::creating());
    EXPECT_EQ(error_of([&] { (void)ends.reader.send_file(file); }),
              "send file: this is the reading end of a pipe");
  });
}

}  // namespace
}  // namespace fermata::conformance
