// SPDX-License-Identifier: Apache-2.0

// What files ask of their backend, seen from a backend that does only what the test says.

#include "fermata/reactor/file.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/main_test.hpp"
#include "tests/support/virtual_reactor.hpp"

namespace fermata {
namespace {

using test::bytes_of;
using test::text_of;

std::string message_of(const std::exception_ptr& error) {
  if (!error) return "no error";
  try {
    std::rethrow_exception(error);
  } catch (const Error& thrown) {
    return thrown.what();
  }
}

class FakeFiles final : public backend::Files {
 public:
  explicit FakeFiles(detail::Attachment& attachment) : backend::Files(attachment) {}

  std::deque<backend::FileOperation*> running;
  std::deque<backend::FileOperation*> withdrawn;
  std::vector<int> unlocked;
  int refusal = 0;

  [[nodiscard]] backend::FileOperation& next() const { return *running.front(); }
  void end(int code = 0, std::size_t moved = 0) { end(next(), code, moved); }
  void end(backend::FileOperation& operation, int code = 0, std::size_t moved = 0) {
    std::erase(running, &operation);
    finished(operation, code, moved);
  }
  /// Ends a read with `text`.
  void give(std::string_view text) {
    std::memcpy(next().bytes.get(), text.data(), text.size());
    end(0, text.size());
  }

 private:
  int enqueue(backend::FileOperation& operation) override {
    if (refusal != 0) return refusal;
    running.push_back(&operation);
    return 0;
  }
  void withdraw(backend::FileOperation& operation) noexcept override {
    withdrawn.push_back(&operation);
  }
  void unlock(int file) noexcept override { unlocked.push_back(file); }
};

class FileLine : public ::testing::Test {
 protected:
  /// Runs `body` with an open file, then lets it close.
  template <class Body>
  void run(Body body, const OpenMode& mode = OpenMode::updating()) {
    attachment_.attach(test_.runtime);
    test_.run([&] {
      {
        backend::OpenRequest opening(files_, "/file", mode);
        files_.end(0, 7);
        file_ = opening.take();
      }
      body();
      file_.reset();
      while (!files_.running.empty()) files_.end();
      EXPECT_EQ(attachment_.unclosed(), 0u);
      EXPECT_EQ(files_.in_flight(), 0u);
    });
  }

  test::TestRuntime test_;
  detail::Attachment attachment_;
  FakeFiles files_{attachment_};
  Ref<backend::FileHandle> file_;
  std::array<std::byte, 8> buffer_{};
};

MAIN_TEST_F(FileLine, LetsOneWriteRunAndTheOthersWait) {
  FERMATA_CHECKS("IO-10", "IO-03");
  const backend::FileWriteRequest first(*file_, bytes_of("ab"));
  const backend::FileWriteRequest second(*file_, bytes_of("cd"), 20);
  const backend::FileWriteRequest third(*file_, bytes_of("ef"));
  ASSERT_EQ(files_.running.size(), 1u);
  EXPECT_EQ(files_.next().file, 7);
  EXPECT_EQ(files_.next().offset, 0u);
  files_.end(0, 2);
  EXPECT_TRUE(first.is_completed());
  ASSERT_EQ(files_.running.size(), 1u);
  EXPECT_EQ(files_.next().offset, 20u);
  files_.end(ENOSPC);
  EXPECT_EQ(message_of(second.error()), "write /file: No space left on device");
  ASSERT_EQ(files_.running.size(), 1u);
  EXPECT_EQ(files_.next().offset, 2u);
  EXPECT_FALSE(third.is_completed());
  files_.end(0, 2);
  EXPECT_EQ(third.transferred(), 2u);
  EXPECT_EQ(file_->position(), 4u);
}

MAIN_TEST_F(FileLine, WritesTheRestOfAShortWriteFirst) {
  FERMATA_CHECKS("IO-10", "IO-03");
  const backend::FileWriteRequest first(*file_, bytes_of("abcdef"), 10);
  const backend::FileWriteRequest second(*file_, bytes_of("x"), 0);
  files_.end(0, 4);
  EXPECT_EQ(text_of(files_.next().rest()), "ef");
  EXPECT_EQ(files_.next().offset, 14u);
  files_.end(0, 2);
  EXPECT_EQ(first.transferred(), 6u);
  EXPECT_EQ(text_of(files_.next().rest()), "x");
  files_.end(0, 0);
  EXPECT_EQ(message_of(second.error()), "write /file: Input/output error");
}

MAIN_TEST_F(FileLine, FinishesAWriteThatWasAbandonedHalfWay) {
  FERMATA_CHECKS("IO-01", "IO-07");
  std::optional<backend::FileWriteRequest> request(std::in_place, *file_, bytes_of("abcdef"));
  files_.end(0, 4);
  request.reset();
  EXPECT_TRUE(files_.withdrawn.empty());
  EXPECT_EQ(text_of(files_.next().rest()), "ef");
  files_.end(0, 2);
  EXPECT_EQ(file_->position(), 6u);
}

MAIN_TEST_F(FileLine, NeverBeginsWhatWasAbandonedInIt) {
  FERMATA_CHECKS("IO-01", "IO-07");
  const backend::FileControlRequest sync(*file_, backend::FileCall::Sync);
  { const backend::FileWriteRequest abandoned(*file_, bytes_of("a")); }
  const backend::FileControlRequest cut(*file_, backend::FileCall::Truncate, 3);
  files_.end();
  EXPECT_EQ(files_.next().call, backend::FileCall::Truncate);
  EXPECT_EQ(files_.next().length, 3u);
  EXPECT_TRUE(files_.withdrawn.empty());
}

MAIN_TEST_F(FileLine, IsPassedByReadsAtAnOffset) {
  const backend::FileWriteRequest write(*file_, bytes_of("a"));
  backend::FileReadRequest aside(*file_, buffer_, 5);
  backend::FileReadRequest in_line(*file_, buffer_);
  ASSERT_EQ(files_.running.size(), 2u);
  EXPECT_EQ(files_.running.back()->offset, 5u);
  files_.end(*files_.running.back(), 0, 0);
  EXPECT_TRUE(aside.is_completed());
  EXPECT_EQ(aside.take(), 0u);
  files_.end(0, 1);
  EXPECT_EQ(files_.next().offset, 1u);
  EXPECT_FALSE(in_line.is_completed());
}

MAIN_TEST_F(FileLine, WaitsUntilAReadIsTaken) {
  FERMATA_CHECKS("IO-09");
  std::optional<backend::FileReadRequest> dropped(std::in_place, *file_, buffer_);
  backend::FileReadRequest taken(*file_, buffer_);
  const backend::FileReadRequest last(*file_, buffer_);
  files_.give("abc");
  EXPECT_TRUE(dropped->is_completed());
  EXPECT_TRUE(files_.running.empty());
  dropped.reset();
  EXPECT_EQ(files_.next().offset, 0u);
  files_.give("abc");
  EXPECT_EQ(text_of(std::span(buffer_).first(3)), "abc");
  EXPECT_EQ(taken.take(), 3u);
  EXPECT_EQ(taken.take(), 3u);
  EXPECT_EQ(file_->position(), 3u);
  EXPECT_EQ(files_.next().offset, 3u);
}

MAIN_TEST_F(FileLine, LeavesThePositionWhereSomebodySoughtMeanwhile) {
  const backend::FileWriteRequest write(*file_, bytes_of("abc"));
  backend::FileReadRequest read(*file_, buffer_);
  file_->seek(50);
  files_.end(0, 3);
  EXPECT_EQ(file_->position(), 50u);
  EXPECT_EQ(files_.next().offset, 50u);
  files_.give("xy");
  file_->seek(60);
  EXPECT_EQ(read.take(), 2u);
  EXPECT_EQ(file_->position(), 60u);
}

TEST_F(FileLine, LeavesThePositionOfAFileThatAppends) {
  FERMATA_CHECKS("IO-05");
  run(
      [&] {
        const backend::FileWriteRequest write(*file_, bytes_of("abc"));
        files_.end(0, 3);
        EXPECT_EQ(file_->position(), 0u);
      },
      OpenMode::appending());
}

MAIN_TEST_F(FileLine, ReadsIntoMemoryOfItsOwn) {
  FERMATA_CHECKS("IO-08", "IO-07", "CLOSE-10");
  std::optional<backend::FileReadRequest> request(std::in_place, *file_, buffer_);
  EXPECT_NE(files_.next().bytes.get(), buffer_.data());
  request.reset();
  ASSERT_EQ(files_.withdrawn.size(), 1u);
  files_.give("abc");
  EXPECT_EQ(buffer_[0], std::byte{});
  EXPECT_EQ(file_->position(), 0u);
}

MAIN_TEST_F(FileLine, MovesNoMoreThanOneOperationMay) {
  FERMATA_CHECKS("IO-12");
  const std::byte byte{};
  files_.refusal = EIO;
  const backend::FileReadRequest read(*file_, {buffer_.data(), backend::kTransferMax + 1}, 0);
  EXPECT_TRUE(read.is_completed());
  files_.refusal = 0;
  backend::FileReadRequest capped(*file_, {buffer_.data(), backend::kTransferMax + 1}, 0);
  EXPECT_EQ(files_.next().size, backend::kTransferMax);
  const backend::FileWriteRequest write(*file_, {&byte, 1});
  EXPECT_EQ(message_of(read.error()), "read /file: Input/output error");
}

TEST_F(FileLine, FailsWithTheOpening) {
  attachment_.attach(test_.runtime);
  test_.run([&] {
    backend::OpenRequest opening(files_, "/file", OpenMode::reading());
    backend::FileReadRequest read(opening.handle(), buffer_);
    const backend::FileReadRequest aside(opening.handle(), buffer_, 3);
    ASSERT_EQ(files_.running.size(), 1u);
    files_.end(EACCES);
    for (const auto& error : {opening.error(), read.error(), aside.error()}) {
      EXPECT_EQ(message_of(error), "open /file: Permission denied");
    }
    EXPECT_TRUE(opening.handle().is_closed());
    EXPECT_EQ(attachment_.unclosed(), 0u);
  });
}

MAIN_TEST_F(FileLine, ClosesAfterWhatRuns) {
  FERMATA_CHECKS("CLOSE-01", "CLOSE-03", "CLOSE-10", "IO-06", "IO-11");
  const backend::FileWriteRequest write(*file_, bytes_of("abc"));
  const backend::FileReadRequest aside(*file_, buffer_, 3);
  const backend::FileControlRequest waiting(*file_, backend::FileCall::Sync);
  file_->close();
  for (const auto& error : {write.error(), aside.error(), waiting.error()}) {
    EXPECT_EQ(message_of(error), "Stream was closed");
  }
  EXPECT_EQ(files_.withdrawn.size(), 2u);
  file_.reset();
  files_.end(0, 3);
  EXPECT_EQ(attachment_.unclosed(), 1u);
  EXPECT_EQ(files_.next().call, backend::FileCall::Read);
  files_.give("abc");
  EXPECT_EQ(buffer_[0], std::byte{});
  ASSERT_EQ(files_.running.size(), 1u);
  EXPECT_EQ(files_.next().call, backend::FileCall::Close);
  EXPECT_EQ(files_.next().file, 7);
  files_.end();
  EXPECT_EQ(attachment_.unclosed(), 0u);
  EXPECT_TRUE(files_.running.empty());
}

TEST_F(FileLine, ClosesAFileThatOpensTooLate) {
  FERMATA_CHECKS("IO-11", "CLOSE-10");
  attachment_.attach(test_.runtime);
  test_.run([&] {
    { const backend::OpenRequest abandoned(files_, "/file", OpenMode::reading()); }
    EXPECT_EQ(files_.withdrawn.size(), 1u);
    files_.end(0, 9);
    EXPECT_EQ(files_.next().call, backend::FileCall::Close);
    EXPECT_EQ(files_.next().file, 9);
    files_.end();
    EXPECT_EQ(attachment_.unclosed(), 0u);
    { const backend::OpenRequest withdrawn(files_, "/file", OpenMode::reading()); }
    files_.end(ECANCELED);
    EXPECT_TRUE(files_.running.empty());
    EXPECT_EQ(attachment_.unclosed(), 0u);
  });
}

MAIN_TEST_F(FileLine, ALockThatNobodyTakesIsGivenUp) {
  FERMATA_CHECKS("IO-07", "IO-08");
  using Lock = backend::FileLockRequest;
  const auto exclusive = backend::FileLockKind::Exclusive;
  {
    Lock taken(*file_, exclusive, Lock::Patience::Waits);
    EXPECT_TRUE(files_.next().waits);
    files_.end(0, 1);
    EXPECT_TRUE(taken.take());
  }
  EXPECT_TRUE(file_->is_locked());
  EXPECT_TRUE(files_.unlocked.empty());
  file_->unlock();
  file_->unlock();
  EXPECT_EQ(files_.unlocked.size(), 1u);
  {
    const Lock left(*file_, exclusive, Lock::Patience::Waits);
    files_.end(0, 1);
  }
  EXPECT_EQ(files_.unlocked.size(), 2u) << "completed, and not taken";
  { const Lock abandoned(*file_, exclusive, Lock::Patience::Waits); }
  EXPECT_EQ(files_.withdrawn.size(), 1u);
  files_.end(0, 1);
  EXPECT_EQ(files_.unlocked.size(), 3u) << "abandoned while it was under way";
  EXPECT_FALSE(file_->is_locked());
}

MAIN_TEST_F(FileLine, ALockBeginsWhenAnAbandonedOneHasEnded) {
  FERMATA_CHECKS("IO-07");
  using Lock = backend::FileLockRequest;
  const auto shared = backend::FileLockKind::Shared;
  { const Lock abandoned(*file_, shared, Lock::Patience::Waits); }
  { const Lock dropped(*file_, shared, Lock::Patience::Waits); }
  Lock next(*file_, shared, Lock::Patience::Tries);
  EXPECT_THROW(Lock(*file_, shared, Lock::Patience::Tries), UsageError);
  ASSERT_EQ(files_.running.size(), 1u);
  files_.end(0, 1);
  EXPECT_EQ(files_.unlocked.size(), 1u);
  ASSERT_EQ(files_.running.size(), 1u);
  EXPECT_FALSE(files_.next().waits);
  files_.end(0, 0);
  EXPECT_TRUE(next.is_completed());
  EXPECT_FALSE(next.take());
  const Lock failed(*file_, shared, Lock::Patience::Waits);
  files_.end(ENOLCK);
  EXPECT_EQ(message_of(failed.error()), "lock /file: No locks available");
}

MAIN_TEST_F(FileLine, ACloseGivesTheLockUpWhateverComesOfIt) {
  FERMATA_CHECKS("IO-06");
  using Lock = backend::FileLockRequest;
  const auto shared = backend::FileLockKind::Shared;
  { const Lock abandoned(*file_, shared, Lock::Patience::Waits); }
  const Lock next(*file_, shared, Lock::Patience::Waits);
  file_->close();
  EXPECT_EQ(message_of(next.error()), "Stream was closed");
  files_.end(0, 1);
  EXPECT_EQ(files_.unlocked.size(), 1u);
  EXPECT_EQ(files_.next().call, backend::FileCall::Close);
  const Lock late(*file_, shared, Lock::Patience::Waits);
  EXPECT_EQ(message_of(late.error()), "Cannot lock closed IO handle");
}

TEST_F(FileLine, ALockFailsWithTheOpeningThatItWaitsFor) {
  FERMATA_CHECKS("IO-06");
  using Lock = backend::FileLockRequest;
  attachment_.attach(test_.runtime);
  test_.run([&] {
    backend::OpenRequest opening(files_, "/file", OpenMode::reading());
    { const Lock dropped(opening.handle(), backend::FileLockKind::Shared, Lock::Patience::Waits); }
    const Lock lock(opening.handle(), backend::FileLockKind::Shared, Lock::Patience::Waits);
    files_.end(ENOENT);
    EXPECT_EQ(message_of(lock.error()), "open /file: No such file or directory");
    const Lock late(opening.handle(), backend::FileLockKind::Shared, Lock::Patience::Waits);
    EXPECT_EQ(message_of(late.error()), "Cannot lock closed IO handle");
    EXPECT_EQ(attachment_.unclosed(), 0u);
  });
}

TEST_F(FileLine, EndsAPathOperationInSilenceWhenNobodyWantsIt) {
  FERMATA_CHECKS("IO-01", "IO-07");
  attachment_.attach(test_.runtime);
  test_.run([&] {
    { const backend::PathRequest abandoned(files_, backend::FileCall::Remove, "/file"); }
    EXPECT_EQ(files_.withdrawn.size(), 1u);
    files_.end();
    files_.refusal = ENOMEM;
    const backend::PathRequest refused = backend::PathRequest::rename(files_, "/a", "/b");
    EXPECT_EQ(message_of(refused.error()), "rename /a to /b: Cannot allocate memory");
    EXPECT_EQ(files_.in_flight(), 0u);
  });
}

}  // namespace
}  // namespace fermata
