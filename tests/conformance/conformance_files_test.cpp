// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <list>
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
#include "tests/conformance/main_typed_test.hpp"
#include "tests/conformance/scratch_folder.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/open_descriptors.hpp"

namespace fermata::conformance {
namespace {

using namespace std::chrono_literals;
using test::error_of;

template <class Arm>
class Files : public ::testing::Test {};
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

MAIN_TYPED_TEST_WITH(Folder, Files, GiveBackWhatWasWritten) {
  const std::string where = path("note");
  File out = File::open(where, OpenMode::writing());
  out.write("one ");
  out.write("two");
  EXPECT_EQ(out.position(), 7u);
  EXPECT_EQ(out.path(), where);
  File in = File::open(where);
  EXPECT_EQ(read_text(in, 4), "one ");
  EXPECT_EQ(read_text(in), "two");
  EXPECT_EQ(read_text(in), "");
}

MAIN_TYPED_TEST_WITH(Folder, Files, ReadAndWriteAtAnyOffset) {
  File file = File::open(path("holes"), OpenMode::creating());
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
}

MAIN_TYPED_TEST_WITH(Folder, Files, HaveAnEndThatIsNotSticky) {
  FERMATA_CHECKS("IO-05");
  const std::string where = path("log");
  File log = File::open(where, OpenMode::appending());
  File reader = File::open(where);
  for (const char* line : {"first", "second", "third"}) {
    EXPECT_EQ(read_text(reader), "");
    EXPECT_EQ(read_text(reader), "");
    log.write(line);
    EXPECT_EQ(read_text(reader), line);
  }
}

MAIN_TYPED_TEST_WITH(Folder, Files, ThatAppendWriteAtTheEndWhereverThatIs) {
  FERMATA_CHECKS("IO-05");
  const std::string where = path("log");
  File a = File::open(where, OpenMode::appending());
  File b = File::open(where, OpenMode::appending());
  a.write("a1 ");
  b.write("b1 ");
  a.write_at(0, "a2 ");
  b.seek(1);
  b.write("b2 ");
  File c = File::open(where, OpenMode::updating());
  c.write_at(12, "c1 ");
  a.write("a3");
  EXPECT_EQ(fs::read_file(where), "a1 b1 a2 b2 c1 a3");
}

MAIN_TYPED_TEST_WITH(Folder, Files, AreCutAndMadeLonger) {
  File file = File::open(path("lengths"), OpenMode::creating());
  file.write("abcdef");
  EXPECT_EQ(file.size(), 6u);
  file.truncate(2);
  EXPECT_EQ(file.size(), 2u);
  file.truncate(4);
  EXPECT_EQ(read_text_at(file, 0), std::string("ab\0\0", 4));
}

MAIN_TYPED_TEST_WITH(Folder, Files, CarryMoreThanOneReadTakes) {
  std::string text(300'000, '\0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 31 + i / 251);
  fs::write_file(path("big"), text);
  EXPECT_TRUE(fs::read_file(path("big")) == text);
  fs::write_file(path("big"), "small");
  EXPECT_EQ(fs::read_file(path("big")), "small");
  fs::write_file(path("big"), "");
  EXPECT_EQ(fs::read_file(path("big")), "");
}

MAIN_TYPED_TEST_WITH(Folder, Files, AreSynced) {
  File file = File::open(path("data"), OpenMode::writing());
  file.write("dear");
  file.sync(SyncMode::DataOnly);
  file.sync();
  fs::sync_directory(path(""));
  EXPECT_EQ(fs::read_file(path("data")), "dear");
}

// --- opening ---

MAIN_TYPED_TEST_WITH(Folder, Files, AreOpenedAsTheModeSays) {
  const std::string where = path("file");
  const auto opened = [&](const OpenMode& mode) { static_cast<void>(File::open(where, mode)); };
  EXPECT_EQ(error_of([&] { opened(OpenMode::reading()); }),
            "open " + where + ": No such file or directory");
  EXPECT_EQ(error_of([&] { opened({.write = true}); }),
            "open " + where + ": No such file or directory");
  opened(OpenMode::creating());
  EXPECT_EQ(error_of([&] { opened(OpenMode::creating()); }), "open " + where + ": File exists");
  fs::write_file(where, "contents");
  opened(OpenMode::updating());
  EXPECT_EQ(fs::read_file(where), "contents");
  opened(OpenMode::writing());
  EXPECT_EQ(fs::read_file(where), "");
  File reader = File::open(where);
  EXPECT_EQ(error_of([&] { reader.write("x"); }), "write " + where + ": Bad file descriptor");
  File writer = File::open(where, OpenMode::writing());
  EXPECT_EQ(error_of([&] { read_text(writer); }), "read " + where + ": Bad file descriptor");
}

MAIN_TYPED_TEST_WITH(Folder, Files, AreCreatedWithPermissions) {
  OpenMode mode = OpenMode::creating();
  mode.permissions = 0600;
  EXPECT_EQ(File::open(path("secret"), mode).status().permissions, 0600u);
  fs::make_directory(path("private"), 0700);
  EXPECT_EQ(fs::status(path("private")).permissions, 0700u);
}

MAIN_TYPED_TEST_WITH(Folder, Files, RefuseModesThatMakeNoSense) {
  const auto refusal = [&](const OpenMode& mode) {
    return error_of([&] { static_cast<void>(File::open(path("file"), mode)); });
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
}

MAIN_TYPED_TEST_WITH(Folder, Files, RefusePathsThatNoSystemTakes) {
  using std::string_literals::operator""s;
  const auto refusal = [](const std::string& path) {
    return error_of([&] { static_cast<void>(File::open(path)); });
  };
  EXPECT_EQ(refusal(""), "open: the path is empty: expected a name");
  EXPECT_EQ(refusal("a\0b"s), "open: path 'a': byte 1 is NUL: expected none");
  EXPECT_EQ(refusal(std::string(5000, 'x')), "open: a path of 5000 bytes: expected at most 4095");
  EXPECT_EQ(error_of([] { fs::rename("a", ""); }), "rename: the path is empty: expected a name");
  const std::string name(300, 'x');
  EXPECT_EQ(refusal(path(name)), "open " + path(name) + ": File name too long");
}

MAIN_TYPED_TEST_WITH(Folder, Files, RefuseOffsetsThatNoFileHas) {
  File file = File::open(path("file"), OpenMode::creating());
  const std::uint64_t beyond = backend::kOffsetMax + 1;
  const std::string expected =
      ": offset 9223372036854775808: expected at most " + std::to_string(backend::kOffsetMax);
  EXPECT_EQ(error_of([&] { read_text_at(file, beyond); }), "read" + expected);
  EXPECT_EQ(error_of([&] { file.write_at(beyond, "x"); }), "write" + expected);
  EXPECT_EQ(error_of([&] { file.truncate(beyond); }), "truncate" + expected);
  EXPECT_EQ(error_of([&] { file.seek(beyond); }), "seek" + expected);
  EXPECT_EQ(error_of([&] { file.read({}); }), "read: expected a buffer of at least one byte");
}

MAIN_TYPED_TEST_WITH(Folder, Files, ThatOpenLetOperationsWait) {
  fs::write_file(path("file"), "contents");
  std::byte byte{};
  backend::OpenRequest opening(current_runtime().reactor().files(), path("file"),
                               OpenMode::updating());
  backend::FileReadRequest early(opening.handle(), {&byte, 1}, 3);
  backend::FileControlRequest cut(opening.handle(), backend::FileCall::Truncate, 4);
  wait(early);
  wait(cut);
  EXPECT_TRUE(opening.is_completed());
  EXPECT_EQ(byte, std::byte{'t'});
  EXPECT_EQ(fs::read_file(path("file")), "cont");

  backend::OpenRequest failing(current_runtime().reactor().files(), path("nowhere"),
                               OpenMode::reading());
  backend::FileReadRequest waiting(failing.handle(), {&byte, 1});
  const std::string expected = "open " + path("nowhere") + ": No such file or directory";
  EXPECT_EQ(error_of([&] { wait(waiting); }), expected);
  EXPECT_EQ(message_of(failing.error()), expected);
}

// --- the line ---

MAIN_TYPED_TEST_WITH(Folder, Files, WriteOneAtATimeInTheOrderOfSubmission) {
  FERMATA_CHECKS("IO-10");
  File file = File::open(path("order"), OpenMode::creating());
  std::vector<std::unique_ptr<backend::FileWriteRequest>> requests;
  std::string expected;
  for (char letter = 'a'; letter <= 'j'; ++letter) {
    const std::string block(1000, letter);
    expected += block;
    requests.push_back(std::make_unique<backend::FileWriteRequest>(
        file.handle(), std::as_bytes(std::span(block))));
    EXPECT_EQ(in_flight(), 1u);
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    wait(*requests[i]);
    EXPECT_EQ(requests[i]->transferred(), 1000u);
    for (std::size_t later = i + 2; later < requests.size(); ++later) {
      EXPECT_FALSE(requests[later]->is_completed());
    }
  }
  EXPECT_TRUE(fs::read_file(path("order")) == expected);
}

MAIN_TYPED_TEST_WITH(Folder, Files, GoOnAfterAFailedWrite) {
  FERMATA_CHECKS("IO-10");
  fs::write_file(path("file"), "kept");
  File file = File::open(path("file"));
  const std::byte byte{};
  backend::FileWriteRequest refused(file.handle(), {&byte, 1});
  backend::FileControlRequest behind(file.handle(), backend::FileCall::Status);
  EXPECT_NE(error_of([&] { wait(refused); }), "no error");
  wait(behind);
  EXPECT_EQ(behind.status().size, 4u);
}

MAIN_TYPED_TEST_WITH(Folder, Files, ServeReadersAtThePositionInTheirOrder) {
  FERMATA_CHECKS("IO-09");
  fs::write_file(path("file"), "aabbcc");
  File file = File::open(path("file"));
  std::vector<std::string> read;
  std::vector<Coroutine<>> readers;
  for (int i = 0; i < 3; ++i) {
    readers.push_back(spawn("reader", [&] { read.push_back(read_text(file, 2)); }));
  }
  for (const auto& reader : readers) await(reader);
  EXPECT_EQ(read, (std::vector<std::string>{"aa", "bb", "cc"}));
}

// --- giving up ---

MAIN_TYPED_TEST_WITH(Folder, Files, LeaveTheBufferOfAnAbandonedReadAlone) {
  FERMATA_CHECKS("IO-01", "IO-07", "IO-08", "CLOSE-10");
  fs::write_file(path("file"), "contents");
  File file = File::open(path("file"));
  finish_operations();
  std::string buffer(8, '-');
  {
    const backend::FileReadRequest abandoned(file.handle(),
                                             std::as_writable_bytes(std::span(buffer)));
    EXPECT_EQ(in_flight(), 1u);
  }
  EXPECT_EQ(read_text(file), "contents");
  EXPECT_EQ(buffer, "--------");
  EXPECT_EQ(in_flight(), 0u);
}

MAIN_TYPED_TEST_WITH(Folder, Files, KeepTheirPlaceWhenAReadIsNotTaken) {
  fs::write_file(path("file"), "contents");
  File file = File::open(path("file"));
  std::byte byte{};
  {
    backend::FileReadRequest untaken(file.handle(), {&byte, 1});
    wait(untaken);
  }
  EXPECT_EQ(file.position(), 0u);
  EXPECT_EQ(read_text(file), "contents");
}

MAIN_TYPED_TEST_WITH(Folder, Files, TimeOutAndAreCancelled) {
  FERMATA_CHECKS("IO-08");
  fs::write_file(path("file"), "contents");
  File file = File::open(path("file"));
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
}

MAIN_TYPED_TEST_WITH(Folder, Files, DoNothingForATokenThatHasFired) {
  FERMATA_CHECKS("EVT-06");
  const std::string where = path("file");
  Timer token(current_runtime(), 0ms);
  wait(token);
  EXPECT_THROW(fs::write_file(where, "x", {.token = &token}), OperationCancelled);
  EXPECT_THROW(fs::make_directory(where, 0755, {.token = &token}), OperationCancelled);
  EXPECT_THROW(fs::link(where, path("name"), {.token = &token}), OperationCancelled);
  EXPECT_EQ(fs::list_directory(path("")), std::vector<DirectoryEntry>{});
}

MAIN_TYPED_TEST_WITH(Folder, Files, DoNotWriteWhatWasAbandonedInTheLine) {
  File file = File::open(path("file"), OpenMode::creating());
  const auto bytes_of = [](const char* text) { return std::as_bytes(std::span(text, 2)); };
  backend::FileWriteRequest first(file.handle(), bytes_of("aa"));
  std::optional<backend::FileWriteRequest> second(std::in_place, file.handle(), bytes_of("bb"));
  backend::FileWriteRequest third(file.handle(), bytes_of("cc"));
  second.reset();
  wait(third);
  EXPECT_EQ(fs::read_file(path("file")), "aacc");
}

// --- closing ---

MAIN_TYPED_TEST_WITH(Folder, Files, ThatCloseWakeWhoeverWaitsAndRefuseWhatComes) {
  FERMATA_CHECKS("IO-06", "IO-01", "IO-07");
  fs::write_file(path("file"), "contents");
  File file = File::open(path("file"), OpenMode::updating());
  std::array<std::byte, 8> buffer;
  backend::FileReadRequest read(file.handle(), buffer);
  backend::FileReadRequest read_at(file.handle(), buffer, 1);
  backend::FileWriteRequest write(file.handle(), buffer);
  backend::FileControlRequest sync(file.handle(), backend::FileCall::Sync);
  file.close();
  for (const backend::Request* request :
       {static_cast<backend::Request*>(&read), static_cast<backend::Request*>(&read_at),
        static_cast<backend::Request*>(&write), static_cast<backend::Request*>(&sync)}) {
    EXPECT_TRUE(request->is_completed());
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
}

MAIN_TYPED_TEST_WITH(Folder, Files, MayVanishUnderARunningOperation) {
  FERMATA_CHECKS("CLOSE-04", "CLOSE-10", "IO-07");
  fs::write_file(path("file"), "contents");
  std::byte byte{};
  {
    File file = File::open(path("file"));
    const backend::FileReadRequest abandoned(file.handle(), {&byte, 1});
  }
  {
    const backend::OpenRequest abandoned(current_runtime().reactor().files(), path("file"),
                                         OpenMode::reading());
  }
  EXPECT_GE(in_flight(), 1u);
  finish_operations();
  EXPECT_EQ(byte, std::byte{});
}

// Both the end of a request and the close of its file take an operation back; its end may be told
// turns after that.
MAIN_TYPED_TEST_WITH(Folder, Files, EndAnOperationOnceThatIsTakenBackTwice) {
  FERMATA_CHECKS("CLOSE-10", "IO-07");
  std::vector<std::byte> buffer(1 << 20);  // Reads that take long enough to wait for a worker.
  fs::write_file(path("file"), std::string(buffer.size(), 'x'));
  for (int round = 0; round < 20; ++round) {
    std::vector<File> files;
    std::list<backend::FileReadRequest> reads;
    for (int i = 0; i < 12; ++i) files.push_back(File::open(path("file")));
    for (const File& file : files) reads.emplace_back(file.handle(), buffer);
    reads.clear();
    delay(round % 5 * 100us);
    for (File& file : files) file.close();
    finish_operations();
    EXPECT_EQ(in_flight(), 0u);
  }
  EXPECT_EQ(buffer, std::vector<std::byte>(buffer.size())) << "an abandoned read wrote";
}

MAIN_TYPED_TEST_WITH(Folder, Files, GiveTheirDescriptorsBack) {
  if (!TypeParam::kReal) return;
  FERMATA_CHECKS("IO-11", "CLOSE-08");
  const auto before = test::open_descriptors();
  {
    std::vector<File> files;
    for (int i = 0; i < 20; ++i) {
      files.push_back(File::open(path(std::to_string(i)), OpenMode::writing()));
      EXPECT_EQ(test::open_descriptors(), before + i + 1);
    }
  }
  finish_operations();
  EXPECT_EQ(test::open_descriptors(), before);
}

MAIN_TYPED_TEST_WITH(Folder, Files, ThatAreIdleAreNoActivity) {
  FERMATA_CHECKS("IO-15", "CORE-EV-01");
  const File idle = File::open(path("file"), OpenMode::creating());
  EXPECT_EQ(current_runtime().active_event_count(), 0u);
  backend::FileControlRequest request(idle.handle(), backend::FileCall::Sync);
  EXPECT_EQ(current_runtime().active_event_count(), 1u);
  wait(request);
  EXPECT_EQ(current_runtime().active_event_count(), 0u);
}

// --- names ---

MAIN_TYPED_TEST_WITH(Folder, Files, HaveAStatus) {
  const WallTime before = wall_clock();
  File file = File::open(path("file"), OpenMode::creating());
  file.write("12345");
  const FileStatus status = fs::status(path("file"));
  EXPECT_EQ(status.type, FileType::Regular);
  EXPECT_EQ(status.size, 5u);
  constexpr std::int64_t kCoarse = 1'000'000'000;  // The kernel's clock for files is.
  EXPECT_GE(status.modified.nanoseconds, before.nanoseconds - kCoarse);
  EXPECT_LE(status.modified.nanoseconds, wall_clock().nanoseconds);
  EXPECT_EQ(file.status().size, 5u);
  EXPECT_EQ(fs::status(path("")).type, FileType::Directory);
  EXPECT_EQ(error_of([&] { static_cast<void>(fs::status(path("none"))); }),
            "stat " + path("none") + ": No such file or directory");
  EXPECT_EQ(error_of([&] { static_cast<void>(fs::status(path("file/x"))); }),
            "stat " + path("file/x") + ": Not a directory");
}

MAIN_TYPED_TEST_WITH(Folder, Files, AreRenamed) {
  const std::string a = path("a");
  const std::string b = path("b");
  fs::write_file(a, "new");
  fs::write_file(b, "old");
  fs::rename(a, b);
  EXPECT_EQ(fs::read_file(b), "new");
  EXPECT_EQ(error_of([&] { fs::rename(a, b); }),
            "rename " + a + " to " + b + ": No such file or directory");
  fs::make_directory(path("d"));
  EXPECT_EQ(error_of([&] { fs::rename(b, path("d")); }),
            "rename " + b + " to " + path("d") + ": Is a directory");
  EXPECT_EQ(error_of([&] { fs::rename(path("d"), path("d/e")); }),
            "rename " + path("d") + " to " + path("d/e") + ": Invalid argument");
  fs::rename(b, path("d/b"));
  fs::rename(path("d"), path("e"));
  EXPECT_EQ(fs::read_file(path("e/../e/./b")), "new");
}

MAIN_TYPED_TEST_WITH(Folder, Files, AreLinked) {
  const std::string a = path("a");
  const std::string b = path("b");
  fs::write_file(a, "one");
  EXPECT_EQ(fs::status(a).links, 1u);
  fs::link(a, b);
  EXPECT_EQ(fs::status(a).links, 2u);
  EXPECT_EQ(fs::status(b).links, 2u);
  fs::write_file(b, "both");
  EXPECT_EQ(fs::read_file(a), "both");
  File file = File::open(a);
  fs::remove(a);
  EXPECT_EQ(fs::status(b).links, 1u);
  EXPECT_EQ(fs::read_file(b), "both");
  fs::remove(b);
  EXPECT_EQ(file.status().links, 0u);
}

MAIN_TYPED_TEST_WITH(Folder, Files, RefuseLinksThatTheSystemRefuses) {
  const std::string a = path("a");
  const auto refusal = [&](const std::string& existing, const std::string& name) {
    return error_of([&] { fs::link(existing, name); });
  };
  const auto text = [](const std::string& existing, const std::string& name) {
    return "link " + existing + " to " + name + ": ";
  };
  EXPECT_EQ(refusal(a, path("b")), text(a, path("b")) + "No such file or directory");
  fs::write_file(a, "x");
  EXPECT_EQ(refusal(a, a), text(a, a) + "File exists");
  EXPECT_EQ(refusal(a, path("none/b")), text(a, path("none/b")) + "No such file or directory");
  EXPECT_EQ(refusal(a, path("a/b")), text(a, path("a/b")) + "Not a directory");
  fs::make_directory(path("d"));
  EXPECT_EQ(refusal(path("d"), path("e")), text(path("d"), path("e")) + "Operation not permitted");
  EXPECT_EQ(refusal(a, path("d")), text(a, path("d")) + "File exists");
  EXPECT_EQ(refusal(a, ""), "link: the path is empty: expected a name");
  EXPECT_EQ(refusal("", a), "link: the path is empty: expected a name");
}

MAIN_TYPED_TEST_WITH(Folder, Files, GiveOneOfSeveralLinkersTheName) {
  std::vector<Coroutine<>> linkers;
  int linked = 0;
  for (int i = 0; i < 5; ++i) {
    const std::string own = path("own " + std::to_string(i));
    fs::write_file(own, std::to_string(i));
    linkers.push_back(spawn("linker", [own, name = path("name"), &linked] {
      try {
        fs::link(own, name);
        ++linked;
      } catch (const InputOutputError& error) {
        EXPECT_EQ(error.code(), EEXIST);
      }
      EXPECT_EQ(fs::status(own).links == 2, fs::read_file(name) == fs::read_file(own));
    }));
  }
  for (const auto& linker : linkers) await(linker);
  EXPECT_EQ(linked, 1);
}

MAIN_TYPED_TEST_WITH(Folder, Files, StayOpenWhenTheirNameIsRemoved) {
  File file = File::open(path("file"), OpenMode::creating());
  fs::remove(path("file"));
  EXPECT_EQ(error_of([&] { fs::remove(path("file")); }),
            "remove " + path("file") + ": No such file or directory");
  file.write("still here");
  EXPECT_EQ(read_text_at(file, 0), "still here");
  fs::write_file(path("file"), "another");
  EXPECT_EQ(read_text_at(file, 0), "still here");
}

MAIN_TYPED_TEST_WITH(Folder, Files, LiveInDirectories) {
  const std::string directory = path("directory");
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
}

MAIN_TYPED_TEST_WITH(Folder, Files, AreNotDirectories) {
  const std::string directory = path("directory");
  fs::make_directory(directory);
  EXPECT_EQ(error_of([&] { static_cast<void>(File::open(directory, OpenMode::updating())); }),
            "open " + directory + ": Is a directory");
  File opened = File::open(directory);
  EXPECT_EQ(error_of([&] { read_text(opened); }), "read " + directory + ": Is a directory");
}

}  // namespace
}  // namespace fermata::conformance
