// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/io/file.hpp"
#include "fermata/io/file_system.hpp"
#include "fermata/sync/await.hpp"
#include "tests/conformance/arms.hpp"
#include "tests/conformance/scratch_folder.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/open_descriptors.hpp"

namespace fermata::conformance {
namespace {

using namespace std::chrono_literals;
using test::error_of;

template <class Arm>
class Files : public ScratchFolder<Arm> {};
TYPED_TEST_SUITE(Files, OrderedArms);

std::string read_text(File& file, std::size_t max = 100) {
  std::string text(max, '\0');
  text.resize(file.read(std::as_writable_bytes(std::span(text))));
  return text;
}

std::string read_text_at(File& file, std::uint64_t offset, std::size_t max = 100) {
  std::string text(max, '\0');
  text.resize(file.read_at(offset, std::as_writable_bytes(std::span(text))));
  return text;
}

std::string message_of(const std::exception_ptr& error) {
  return error ? error_of([&] { std::rethrow_exception(error); }) : "no error";
}

std::size_t in_flight() { return current_runtime().reactor().files().in_flight(); }

/// Until the closes of before are done.
void finish_operations() {
  while (in_flight() > 0) delay(1ms);
}

// --- contents ---

TYPED_TEST(Files, GiveBackWhatWasWritten) {
  TypeParam::run([&] {
    const std::string path = this->path("note");
    File out = File::open(path, OpenMode::writing());
    out.write("one ");
    out.write("two");
    EXPECT_EQ(out.position(), 7u);
    EXPECT_EQ(out.path(), path);
    File in = File::open(path);
    EXPECT_EQ(read_text(in, 4), "one ");
    EXPECT_EQ(read_text(in), "two");
    EXPECT_EQ(read_text(in), "");
  });
}

TYPED_TEST(Files, ReadAndWriteAtAnyOffset) {
  TypeParam::run([&] {
    File file = File::open(this->path("holes"), OpenMode::creating());
    file.write_at(4, "efgh");
    EXPECT_EQ(file.position(), 0u);
    EXPECT_EQ(read_text_at(file, 5, 2), "fg");
    EXPECT_EQ(read_text(file), std::string("\0\0\0\0efgh", 8));
    EXPECT_EQ(file.position(), 8u);
    file.seek(0);
    file.write("abcd");
    EXPECT_EQ(read_text(file, 2), "ef");
    file.seek(100);
    EXPECT_EQ(read_text(file), "");
    EXPECT_EQ(file.position(), 100u);
    EXPECT_EQ(read_text_at(file, 0), "abcdefgh");
  });
}

TYPED_TEST(Files, HaveAnEndThatIsNotSticky) {
  FERMATA_CHECKS("IO-05");
  TypeParam::run([&] {
    const std::string path = this->path("log");
    File log = File::open(path, OpenMode::appending());
    File reader = File::open(path);
    for (const char* line : {"first", "second", "third"}) {
      EXPECT_EQ(read_text(reader), "");
      EXPECT_EQ(read_text(reader), "");
      log.write(line);
      EXPECT_EQ(read_text(reader), line);
    }
  });
}

TYPED_TEST(Files, ThatAppendWriteAtTheEndWhereverThatIs) {
  FERMATA_CHECKS("IO-05");
  TypeParam::run([&] {
    const std::string path = this->path("log");
    File a = File::open(path, OpenMode::appending());
    File b = File::open(path, OpenMode::appending());
    a.write("a1 ");
    b.write("b1 ");
    a.write_at(0, "a2 ");
    b.seek(1);
    b.write("b2 ");
    File c = File::open(path, OpenMode::updating());
    c.write_at(12, "c1 ");
    a.write("a3");
    EXPECT_EQ(fs::read_file(path), "a1 b1 a2 b2 c1 a3");
  });
}

TYPED_TEST(Files, AreCutAndMadeLonger) {
  TypeParam::run([&] {
    File file = File::open(this->path("lengths"), OpenMode::creating());
    file.write("abcdef");
    EXPECT_EQ(file.size(), 6u);
    file.truncate(2);
    EXPECT_EQ(file.size(), 2u);
    file.truncate(4);
    EXPECT_EQ(read_text_at(file, 0), std::string("ab\0\0", 4));
  });
}

TYPED_TEST(Files, CarryMoreThanOneReadTakes) {
  TypeParam::run([&] {
    std::string text(300'000, '\0');
    for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 31 + i / 251);
    fs::write_file(this->path("big"), text);
    EXPECT_TRUE(fs::read_file(this->path("big")) == text);
    fs::write_file(this->path("big"), "small");
    EXPECT_EQ(fs::read_file(this->path("big")), "small");
    fs::write_file(this->path("big"), "");
    EXPECT_EQ(fs::read_file(this->path("big")), "");
  });
}

TYPED_TEST(Files, AreSynced) {
  TypeParam::run([&] {
    File file = File::open(this->path("data"), OpenMode::writing());
    file.write("dear");
    file.sync(SyncMode::DataOnly);
    file.sync();
    fs::sync_directory(this->path(""));
    EXPECT_EQ(fs::read_file(this->path("data")), "dear");
  });
}

// --- opening ---

TYPED_TEST(Files, AreOpenedAsTheModeSays) {
  TypeParam::run([&] {
    const std::string path = this->path("file");
    const auto opened = [&](const OpenMode& mode) { static_cast<void>(File::open(path, mode)); };
    EXPECT_EQ(error_of([&] { opened(OpenMode::reading()); }),
              "open " + path + ": No such file or directory");
    EXPECT_EQ(error_of([&] { opened({.write = true}); }),
              "open " + path + ": No such file or directory");
    opened(OpenMode::creating());
    EXPECT_EQ(error_of([&] { opened(OpenMode::creating()); }), "open " + path + ": File exists");
    fs::write_file(path, "contents");
    opened(OpenMode::updating());
    EXPECT_EQ(fs::read_file(path), "contents");
    opened(OpenMode::writing());
    EXPECT_EQ(fs::read_file(path), "");
    File reader = File::open(path);
    EXPECT_EQ(error_of([&] { reader.write("x"); }), "write " + path + ": Bad file descriptor");
    File writer = File::open(path, OpenMode::writing());
    EXPECT_EQ(error_of([&] { read_text(writer); }), "read " + path + ": Bad file descriptor");
  });
}

TYPED_TEST(Files, AreCreatedWithPermissions) {
  TypeParam::run([&] {
    OpenMode mode = OpenMode::creating();
    mode.permissions = 0600;
    EXPECT_EQ(File::open(this->path("secret"), mode).status().permissions, 0600u);
    fs::make_directory(this->path("private"), 0700);
    EXPECT_EQ(fs::status(this->path("private")).permissions, 0700u);
  });
}

TYPED_TEST(Files, RefuseModesThatMakeNoSense) {
  TypeParam::run([&] {
    const auto refusal = [&](const OpenMode& mode) {
      return error_of([&] { static_cast<void>(File::open(this->path("file"), mode)); });
    };
    EXPECT_EQ(refusal({}), "open: the mode neither reads nor writes: expected one of them");
    EXPECT_EQ(refusal({.read = true, .create = true}),
              "open: the mode creates: expected it to write");
    EXPECT_EQ(refusal({.read = true, .truncate = true}),
              "open: the mode truncates: expected it to write");
    EXPECT_EQ(refusal({.read = true, .append = true}),
              "open: the mode appends: expected it to write");
    EXPECT_EQ(refusal({.write = true, .exclusive = true}),
              "open: the mode is exclusive: expected it to create");
    EXPECT_EQ(refusal({.read = true, .permissions = 010000}),
              "open: permissions 010000: expected at most 07777");
  });
}

TYPED_TEST(Files, RefusePathsThatNoSystemTakes) {
  TypeParam::run([&] {
    using std::string_literals::operator""s;
    const auto refusal = [](const std::string& path) {
      return error_of([&] { static_cast<void>(File::open(path)); });
    };
    EXPECT_EQ(refusal(""), "open: the path is empty: expected a name");
    EXPECT_EQ(refusal("a\0b"s), "open: path 'a': byte 1 is NUL: expected none");
    EXPECT_EQ(refusal(std::string(5000, 'x')), "open: a path of 5000 bytes: expected at most 4095");
    EXPECT_EQ(error_of([] { fs::rename("a", ""); }), "rename: the path is empty: expected a name");
    const std::string name(300, 'x');
    EXPECT_EQ(refusal(this->path(name)), "open " + this->path(name) + ": File name too long");
  });
}

TYPED_TEST(Files, RefuseOffsetsThatNoFileHas) {
  TypeParam::run([&] {
    File file = File::open(this->path("file"), OpenMode::creating());
    const std::uint64_t beyond = kOffsetMax + 1;
    const std::string expected =
        ": offset 9223372036854775808: expected at most " + std::to_string(kOffsetMax);
    EXPECT_EQ(error_of([&] { read_text_at(file, beyond); }), "read" + expected);
    EXPECT_EQ(error_of([&] { file.write_at(beyond, "x"); }), "write" + expected);
    EXPECT_EQ(error_of([&] { file.truncate(beyond); }), "truncate" + expected);
    EXPECT_EQ(error_of([&] { file.seek(beyond); }), "seek" + expected);
    EXPECT_EQ(error_of([&] { file.read({}); }), "read: expected a buffer of at least one byte");
  });
}

TYPED_TEST(Files, ThatOpenLetOperationsWait) {
  TypeParam::run([&] {
    fs::write_file(this->path("file"), "contents");
    std::byte byte{};
    OpenRequest opening(current_runtime().reactor().files(), this->path("file"),
                        OpenMode::updating());
    FileReadRequest early(opening.handle(), {&byte, 1}, 3);
    FileControlRequest cut(opening.handle(), FileCall::Truncate, 4);
    wait(early);
    wait(cut);
    EXPECT_TRUE(opening.completed());
    EXPECT_EQ(byte, std::byte{'t'});
    EXPECT_EQ(fs::read_file(this->path("file")), "cont");

    OpenRequest failing(current_runtime().reactor().files(), this->path("nowhere"),
                        OpenMode::reading());
    FileReadRequest waiting(failing.handle(), {&byte, 1});
    const std::string expected = "open " + this->path("nowhere") + ": No such file or directory";
    EXPECT_EQ(error_of([&] { wait(waiting); }), expected);
    EXPECT_EQ(message_of(failing.error()), expected);
  });
}

// --- the line ---

TYPED_TEST(Files, WriteOneAtATimeInTheOrderOfSubmission) {
  FERMATA_CHECKS("IO-10");
  TypeParam::run([&] {
    File file = File::open(this->path("order"), OpenMode::creating());
    std::vector<std::unique_ptr<FileWriteRequest>> requests;
    std::string expected;
    for (char letter = 'a'; letter <= 'j'; ++letter) {
      const std::string block(1000, letter);
      expected += block;
      requests.push_back(
          std::make_unique<FileWriteRequest>(file.handle(), std::as_bytes(std::span(block))));
      EXPECT_EQ(in_flight(), 1u);
    }
    for (std::size_t i = 0; i < requests.size(); ++i) {
      wait(*requests[i]);
      EXPECT_EQ(requests[i]->transferred(), 1000u);
      for (std::size_t later = i + 2; later < requests.size(); ++later) {
        EXPECT_FALSE(requests[later]->completed());
      }
    }
    EXPECT_TRUE(fs::read_file(this->path("order")) == expected);
  });
}

TYPED_TEST(Files, GoOnAfterAFailedWrite) {
  FERMATA_CHECKS("IO-10");
  TypeParam::run([&] {
    fs::write_file(this->path("file"), "kept");
    File file = File::open(this->path("file"));
    const std::byte byte{};
    FileWriteRequest refused(file.handle(), {&byte, 1});
    FileControlRequest behind(file.handle(), FileCall::Status);
    EXPECT_NE(error_of([&] { wait(refused); }), "no error");
    wait(behind);
    EXPECT_EQ(behind.status().size, 4u);
  });
}

TYPED_TEST(Files, ServeReadersAtThePositionInTheirOrder) {
  FERMATA_CHECKS("IO-09");
  TypeParam::run([&] {
    fs::write_file(this->path("file"), "aabbcc");
    File file = File::open(this->path("file"));
    std::vector<std::string> read;
    std::vector<Coroutine<>> readers;
    for (int i = 0; i < 3; ++i) {
      readers.push_back(spawn("reader", [&] { read.push_back(read_text(file, 2)); }));
    }
    for (const auto& reader : readers) await(reader);
    EXPECT_EQ(read, (std::vector<std::string>{"aa", "bb", "cc"}));
  });
}

// --- giving up ---

TYPED_TEST(Files, LeaveTheBufferOfAnAbandonedReadAlone) {
  FERMATA_CHECKS("IO-01", "IO-07", "IO-08", "CLOSE-10");
  TypeParam::run([&] {
    fs::write_file(this->path("file"), "contents");
    File file = File::open(this->path("file"));
    finish_operations();
    std::string buffer(8, '-');
    {
      const FileReadRequest abandoned(file.handle(), std::as_writable_bytes(std::span(buffer)));
      EXPECT_EQ(in_flight(), 1u);
    }
    EXPECT_EQ(read_text(file), "contents");
    EXPECT_EQ(buffer, "--------");
    EXPECT_EQ(in_flight(), 0u);
  });
}

TYPED_TEST(Files, KeepTheirPlaceWhenAReadIsNotTaken) {
  TypeParam::run([&] {
    fs::write_file(this->path("file"), "contents");
    File file = File::open(this->path("file"));
    std::byte byte{};
    {
      FileReadRequest untaken(file.handle(), {&byte, 1});
      wait(untaken);
    }
    EXPECT_EQ(file.position(), 0u);
    EXPECT_EQ(read_text(file), "contents");
  });
}

TYPED_TEST(Files, TimeOutAndAreCancelled) {
  FERMATA_CHECKS("IO-08");
  TypeParam::run([&] {
    fs::write_file(this->path("file"), "contents");
    File file = File::open(this->path("file"));
    std::string buffer(8, '-');
    const auto bytes = std::as_writable_bytes(std::span(buffer));
    EXPECT_THROW(file.read(bytes, {.timeout = 0ns}), Timeout);
    auto reader = spawn("reader", [&] {
      current_coroutine().cancel();
      file.read(bytes);
    });
    EXPECT_THROW(await(reader), Cancellation);
    EXPECT_EQ(file.position(), 0u);
    EXPECT_EQ(read_text(file), "contents");
    EXPECT_EQ(buffer, "--------");
  });
}

TYPED_TEST(Files, DoNothingForATokenThatHasFired) {
  FERMATA_CHECKS("EVT-06");
  TypeParam::run([&] {
    const std::string path = this->path("file");
    Timer token(current_runtime(), 0ms);
    wait(token);
    EXPECT_THROW(fs::write_file(path, "x", {.token = &token}), OperationCanceled);
    EXPECT_THROW(fs::make_directory(path, 0755, {.token = &token}), OperationCanceled);
    EXPECT_EQ(fs::list_directory(this->path("")), std::vector<DirectoryEntry>{});
  });
}

TYPED_TEST(Files, DoNotWriteWhatWasAbandonedInTheLine) {
  TypeParam::run([&] {
    File file = File::open(this->path("file"), OpenMode::creating());
    const auto bytes_of = [](const char* text) { return std::as_bytes(std::span(text, 2)); };
    FileWriteRequest first(file.handle(), bytes_of("aa"));
    std::optional<FileWriteRequest> second(std::in_place, file.handle(), bytes_of("bb"));
    FileWriteRequest third(file.handle(), bytes_of("cc"));
    second.reset();
    wait(third);
    EXPECT_EQ(fs::read_file(this->path("file")), "aacc");
  });
}

// --- closing ---

TYPED_TEST(Files, ThatCloseWakeWhoeverWaitsAndRefuseWhatComes) {
  FERMATA_CHECKS("IO-06", "IO-01", "IO-07");
  TypeParam::run([&] {
    fs::write_file(this->path("file"), "contents");
    File file = File::open(this->path("file"), OpenMode::updating());
    std::array<std::byte, 8> buffer;
    FileReadRequest read(file.handle(), buffer);
    FileReadRequest read_at(file.handle(), buffer, 1);
    FileWriteRequest write(file.handle(), buffer);
    FileControlRequest sync(file.handle(), FileCall::Sync);
    file.close();
    for (const Request* request : {static_cast<Request*>(&read), static_cast<Request*>(&read_at),
                                   static_cast<Request*>(&write), static_cast<Request*>(&sync)}) {
      EXPECT_TRUE(request->completed());
      EXPECT_EQ(message_of(request->error()), "Stream was closed");
      EXPECT_EQ(request->transferred(), 0u);
    }
    EXPECT_FALSE(file.is_open());
    file.close();
    EXPECT_EQ(error_of([&] { read_text(file); }), "Cannot read from closed IO handle");
    EXPECT_EQ(error_of([&] { file.write("x"); }), "Cannot write to closed IO handle");
    EXPECT_EQ(error_of([&] { file.sync(); }), "Cannot sync closed IO handle");
    EXPECT_EQ(error_of([&] { file.truncate(0); }), "Cannot truncate closed IO handle");
    EXPECT_EQ(error_of([&] { static_cast<void>(file.size()); }), "Cannot stat closed IO handle");
    EXPECT_EQ(error_of([&] { file.seek(0); }), "Cannot seek closed IO handle");
  });
}

TYPED_TEST(Files, MayVanishUnderARunningOperation) {
  FERMATA_CHECKS("CLOSE-04", "CLOSE-10", "IO-07");
  TypeParam::run([&] {
    fs::write_file(this->path("file"), "contents");
    std::byte byte{};
    {
      File file = File::open(this->path("file"));
      const FileReadRequest abandoned(file.handle(), {&byte, 1});
    }
    {
      const OpenRequest abandoned(current_runtime().reactor().files(), this->path("file"),
                                  OpenMode::reading());
    }
    EXPECT_GE(in_flight(), 1u);
    finish_operations();
    EXPECT_EQ(byte, std::byte{});
  });
}

TYPED_TEST(Files, GiveTheirDescriptorsBack) {
  if (!TypeParam::kReal) return;
  FERMATA_CHECKS("IO-11", "CLOSE-08");
  TypeParam::run([&] {
    const auto before = test::open_descriptors();
    {
      std::vector<File> files;
      for (int i = 0; i < 20; ++i) {
        files.push_back(File::open(this->path(std::to_string(i)), OpenMode::writing()));
        EXPECT_EQ(test::open_descriptors(), before + i + 1);
      }
    }
    finish_operations();
    EXPECT_EQ(test::open_descriptors(), before);
  });
}

TYPED_TEST(Files, ThatAreIdleAreNoActivity) {
  FERMATA_CHECKS("IO-15", "CORE-EV-01");
  TypeParam::run([&] {
    const File idle = File::open(this->path("file"), OpenMode::creating());
    EXPECT_EQ(current_runtime().active_event_count(), 0u);
    FileControlRequest request(idle.handle(), FileCall::Sync);
    EXPECT_EQ(current_runtime().active_event_count(), 1u);
    wait(request);
    EXPECT_EQ(current_runtime().active_event_count(), 0u);
  });
}

// --- names ---

TYPED_TEST(Files, HaveAStatus) {
  TypeParam::run([&] {
    const WallTime before = wall_clock();
    File file = File::open(this->path("file"), OpenMode::creating());
    file.write("12345");
    const FileStatus status = fs::status(this->path("file"));
    EXPECT_EQ(status.type, FileType::Regular);
    EXPECT_EQ(status.size, 5u);
    constexpr std::int64_t kCoarse = 1'000'000'000;  // The kernel's clock for files is.
    EXPECT_GE(status.modified.nanoseconds, before.nanoseconds - kCoarse);
    EXPECT_LE(status.modified.nanoseconds, wall_clock().nanoseconds);
    EXPECT_EQ(file.status().size, 5u);
    EXPECT_EQ(fs::status(this->path("")).type, FileType::Directory);
    EXPECT_EQ(error_of([&] { static_cast<void>(fs::status(this->path("none"))); }),
              "stat " + this->path("none") + ": No such file or directory");
    EXPECT_EQ(error_of([&] { static_cast<void>(fs::status(this->path("file/x"))); }),
              "stat " + this->path("file/x") + ": Not a directory");
  });
}

TYPED_TEST(Files, AreRenamed) {
  TypeParam::run([&] {
    const std::string a = this->path("a");
    const std::string b = this->path("b");
    fs::write_file(a, "new");
    fs::write_file(b, "old");
    fs::rename(a, b);
    EXPECT_EQ(fs::read_file(b), "new");
    EXPECT_EQ(error_of([&] { fs::rename(a, b); }),
              "rename " + a + " to " + b + ": No such file or directory");
    fs::make_directory(this->path("d"));
    EXPECT_EQ(error_of([&] { fs::rename(b, this->path("d")); }),
              "rename " + b + " to " + this->path("d") + ": Is a directory");
    EXPECT_EQ(error_of([&] { fs::rename(this->path("d"), this->path("d/e")); }),
              "rename " + this->path("d") + " to " + this->path("d/e") + ": Invalid argument");
    fs::rename(b, this->path("d/b"));
    fs::rename(this->path("d"), this->path("e"));
    EXPECT_EQ(fs::read_file(this->path("e/../e/./b")), "new");
  });
}

TYPED_TEST(Files, StayOpenWhenTheirNameIsRemoved) {
  TypeParam::run([&] {
    File file = File::open(this->path("file"), OpenMode::creating());
    fs::remove(this->path("file"));
    EXPECT_EQ(error_of([&] { fs::remove(this->path("file")); }),
              "remove " + this->path("file") + ": No such file or directory");
    file.write("still here");
    EXPECT_EQ(read_text_at(file, 0), "still here");
    fs::write_file(this->path("file"), "another");
    EXPECT_EQ(read_text_at(file, 0), "still here");
  });
}

TYPED_TEST(Files, LiveInDirectories) {
  TypeParam::run([&] {
    const std::string directory = this->path("directory");
    fs::make_directory(directory);
    EXPECT_EQ(error_of([&] { fs::make_directory(directory); }),
              "make directory " + directory + ": File exists");
    EXPECT_EQ(fs::list_directory(directory), std::vector<DirectoryEntry>{});
    fs::write_file(directory + "/b", "");
    fs::write_file(directory + "/a", "");
    fs::make_directory(directory + "/c");
    EXPECT_EQ(fs::list_directory(directory),
              (std::vector<DirectoryEntry>{
                  {"a", FileType::Regular}, {"b", FileType::Regular}, {"c", FileType::Directory}}));
    EXPECT_EQ(error_of([&] { fs::remove_directory(directory); }),
              "remove directory " + directory + ": Directory not empty");
    EXPECT_EQ(error_of([&] { fs::remove(directory + "/c"); }),
              "remove " + directory + "/c: Is a directory");
    EXPECT_EQ(error_of([&] { fs::remove_directory(directory + "/a"); }),
              "remove directory " + directory + "/a: Not a directory");
    EXPECT_EQ(error_of([&] { static_cast<void>(fs::list_directory(directory + "/a")); }),
              "list directory " + directory + "/a: Not a directory");
    EXPECT_EQ(error_of([&] { fs::sync_directory(directory + "/a"); }),
              "sync directory " + directory + "/a: Not a directory");
    fs::remove(directory + "/a");
    fs::remove(directory + "/b");
    fs::remove_directory(directory + "/c");
    fs::remove_directory(directory);
    EXPECT_EQ(error_of([&] { static_cast<void>(fs::list_directory(directory)); }),
              "list directory " + directory + ": No such file or directory");
  });
}

TYPED_TEST(Files, AreNotDirectories) {
  TypeParam::run([&] {
    const std::string directory = this->path("directory");
    fs::make_directory(directory);
    EXPECT_EQ(error_of([&] { static_cast<void>(File::open(directory, OpenMode::updating())); }),
              "open " + directory + ": Is a directory");
    File opened = File::open(directory);
    EXPECT_EQ(error_of([&] { read_text(opened); }), "read " + directory + ": Is a directory");
  });
}

}  // namespace
}  // namespace fermata::conformance
