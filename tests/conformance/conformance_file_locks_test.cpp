// SPDX-License-Identifier: Apache-2.0

// Locks of whole files.

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/io/file.hpp"
#include "fermata/io/file_system.hpp"
#include "fermata/sim/waits/explain.hpp"
#include "fermata/sync/await.hpp"
#include "tests/conformance/arms.hpp"
#include "tests/conformance/main_typed_test.hpp"
#include "tests/conformance/scratch_folder.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/error_of.hpp"

namespace fermata::conformance {
namespace {

using namespace std::chrono_literals;
using test::error_of;

/// A folder with a file that several open.
class Ledger : protected Folder {
 public:
  explicit Ledger(bool real) : Folder(real) {}

 protected:
  [[nodiscard]] File open() const { return File::open(path("ledger"), OpenMode::updating()); }
};

template <class Arm>
class FileLocks : public ::testing::Test {};
TYPED_TEST_SUITE(FileLocks, OrderedArms);

MAIN_TYPED_TEST_WITH(Ledger, FileLocks, OneHasAnExclusiveLock) {
  File first = open();
  File second = File::open(path("ledger"));  // Which only reads.
  FileLock lock = first.lock();
  EXPECT_TRUE(lock.owns_lock());
  EXPECT_FALSE(second.try_lock());
  EXPECT_FALSE(second.try_lock_shared());
  lock.unlock();
  EXPECT_FALSE(lock.owns_lock());
  const std::optional<FileLock> other = second.try_lock();
  EXPECT_TRUE(other && other->owns_lock());
  EXPECT_FALSE(first.try_lock_shared());
}

MAIN_TYPED_TEST_WITH(Ledger, FileLocks, SharedOnesAreBesideEachOther) {
  File first = open();
  File second = open();
  {
    const FileLock one = first.lock_shared();
    const FileLock other = second.lock_shared();
    File third = open();
    EXPECT_FALSE(third.try_lock());
    EXPECT_TRUE(third.try_lock_shared());
  }
  EXPECT_TRUE(first.try_lock());
}

MAIN_TYPED_TEST_WITH(Ledger, FileLocks, WhoWaitsGetsItWhenItIsGivenUp) {
  File first = open();
  File second = open();
  std::vector<std::string> order;
  FileLock lock = first.lock();
  const auto waiter = spawn("waiter", [&] {
    const FileLock own = second.lock();
    order.emplace_back("second");
    EXPECT_FALSE(first.try_lock());
  });
  delay(5ms);
  order.emplace_back("first");
  FileLock moved = std::move(lock);
  lock = FileLock();
  delay(5ms);
  moved.unlock();
  await(waiter);
  EXPECT_EQ(order, (std::vector<std::string>{"first", "second"}));
}

MAIN_TYPED_TEST_WITH(Ledger, FileLocks, SharedOnesAreWaitedForToo) {
  File first = open();
  File second = open();
  std::optional<FileLock> lock = first.lock_shared();
  const auto waiter = spawn("waiter", [&] { static_cast<void>(second.lock()); });
  delay(5ms);
  EXPECT_FALSE(waiter->is_completed());
  const std::string waits = sim::wait_graph_text(waiter->runtime());
  EXPECT_NE(waits.find("ledger"), std::string::npos) << waits;
  lock.reset();
  await(waiter);
}

MAIN_TYPED_TEST_WITH(Ledger, FileLocks, TheEndOfAScopeAndACloseGiveThemUp) {
  File first = open();
  File second = open();
  { const FileLock lock = first.lock(); }
  { const FileLock lock = second.lock(); }
  FileLock lock = first.lock();
  first.close();
  EXPECT_FALSE(lock.owns_lock());
  const FileLock other = second.lock();
  lock.unlock();
  EXPECT_TRUE(other.owns_lock());
  EXPECT_FALSE(open().try_lock());
}

MAIN_TYPED_TEST_WITH(Ledger, FileLocks, AWaitThatEndsEarlyLeavesNoneBehind) {
  FERMATA_CHECKS("IO-08", "CORE-WK-13");
  File first = open();
  File second = open();
  std::optional<FileLock> lock = first.lock();
  EXPECT_THROW(static_cast<void>(second.lock({.timeout = 5ms})), Timeout);
  EXPECT_THROW(static_cast<void>(second.lock({.timeout = 0ms})), Timeout);
  Timer token(current_runtime(), 5ms);
  EXPECT_THROW(static_cast<void>(second.lock_shared({.token = &token})), OperationCancelled);
  const auto cancelled = spawn("cancelled", [&] { static_cast<void>(second.lock()); });
  delay(5ms);
  cancelled.cancel();
  EXPECT_THROW(await(cancelled), Cancellation);
  lock.reset();
  delay(60ms);
  EXPECT_TRUE(first.try_lock());
  EXPECT_TRUE(second.try_lock());
}

MAIN_TYPED_TEST_WITH(Ledger, FileLocks, OneThatIsGivenUpAtOnceIsFree) {
  FERMATA_CHECKS("IO-08", "CORE-WK-13");
  File first = open();
  File second = open();
  for (int i = 0; i < 20; ++i) {  // The attempt may have succeeded when it is given up.
    const auto cancelled = spawn("cancelled", [&] { static_cast<void>(second.lock()); });
    for (int j = 0; j < i % 4; ++j) suspend();
    cancelled.cancel();
    EXPECT_THROW(await(cancelled), Cancellation);
    const FileLock own = second.lock();
    EXPECT_FALSE(first.try_lock());
  }
  EXPECT_TRUE(first.lock().owns_lock());
}

MAIN_TYPED_TEST_WITH(Ledger, FileLocks, AFileHasOneAtATime) {
  File first = open();
  File second = open();
  {
    const FileLock lock = first.lock();
    const std::string again = "lock: " + path("ledger") +
                              " is locked already by this File: expected one lock of a File at "
                              "a time";
    EXPECT_EQ(error_of([&] { (void)first.lock(); }, 0), again);
    EXPECT_EQ(error_of([&] { (void)first.try_lock_shared(); }, 0), again);
    const auto waiter = spawn("waiter", [&] { static_cast<void>(second.lock()); });
    suspend();
    EXPECT_EQ(error_of([&] { (void)second.lock(); }, 0),
              "lock: " + path("ledger") +
                  " is waited for already by this File: expected one lock of a File at a time");
    waiter.cancel();
    EXPECT_THROW(await(waiter), Cancellation);
  }
  EXPECT_TRUE(first.lock_shared().owns_lock());
}

MAIN_TYPED_TEST_WITH(Ledger, FileLocks, AClosedFileHasNone) {
  FERMATA_CHECKS("IO-06");
  File first = open();
  File second = open();
  const FileLock lock = first.lock();
  std::string error;
  const auto waiter =
      spawn("waiter", [&] { error = error_of([&] { static_cast<void>(second.lock()); }); });
  delay(2ms);
  second.close();
  await(waiter);
  EXPECT_EQ(error, "Stream was closed");
  EXPECT_EQ(error_of([&] { static_cast<void>(second.lock()); }), "Cannot lock closed IO handle");
  EXPECT_TRUE(lock.owns_lock());
}

MAIN_TYPED_TEST_WITH(Ledger, FileLocks, NobodyIsKeptFromReadingAndWriting) {
  File first = open();
  File second = open();
  const FileLock lock = second.lock();
  first.write("free");
  std::string text(4, '\0');
  EXPECT_EQ(second.read(std::as_writable_bytes(std::span(text))), 4u);
  const auto waiter = spawn("waiter", [&] { static_cast<void>(first.lock()); });
  suspend();
  first.write(", too");  // A lock that is waited for holds nothing up.
  EXPECT_EQ(first.size(), 9u);
  waiter.cancel();
  EXPECT_THROW(await(waiter), Cancellation);
}

}  // namespace
}  // namespace fermata::conformance
