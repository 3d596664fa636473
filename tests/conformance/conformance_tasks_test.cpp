// SPDX-License-Identifier: Apache-2.0

// What a Task waits for, on every reactor.

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/io/file.hpp"
#include "fermata/io/offload.hpp"
#include "fermata/sync/await.hpp"
#include "fermata/sync/channel.hpp"
#include "fermata/sync/future.hpp"
#include "fermata/sync/task.hpp"
#include "tests/conformance/main_typed_test.hpp"
#include "tests/conformance/reading.hpp"
#include "tests/conformance/scratch_folder.hpp"
#include "tests/conformance/transports.hpp"
#include "tests/support/error_of.hpp"

namespace fermata::conformance {
namespace {

using namespace std::chrono_literals;
using test::error_of;

template <class Arm>
class Tasks : public ::testing::Test {};
TYPED_TEST_SUITE(Tasks, PollableArms);

template <class Arm>
class TasksWithFiles : public ::testing::Test {};
TYPED_TEST_SUITE(TasksWithFiles, Arms);

Task<std::size_t> length_of(Future<std::string> text) { co_return (co_await text).size(); }

MAIN_TYPED_TEST(Tasks, AwaitAFuture) {
  Promise<std::string> promise;
  const auto length = spawn("length", length_of(promise.future()));
  delay(1ms);
  EXPECT_FALSE(length->is_completed());
  promise.complete("five!");
  EXPECT_EQ(await(length), 5u);
}

Task<int> add_up(Channel<int> from) {
  int sum = 0;
  while (const std::optional<int> number = co_await receive(from)) sum += *number;
  co_return sum;
}

MAIN_TYPED_TEST(Tasks, ReceiveFromAChannel) {
  const Channel<int> numbers("numbers", 0);
  const auto sum = spawn("sum", add_up(numbers));
  for (int i = 1; i <= 3; ++i) {
    delay(1ms);
    numbers.send(i);
  }
  numbers.close();
  EXPECT_EQ(await(sum), 6);
}

MAIN_TYPED_TEST(Tasks, Delay) {
  const Instant before = now();
  const auto rest = []() -> Task<Instant> {
    co_await after(3ms);
    co_await after(0ms);
    co_return now();
  };
  EXPECT_GE(await(rest()) - before, 3ms);
}

Task<std::string> read_all(TcpStream stream) {
  std::array<std::byte, 4> buffer;
  std::string text;
  while (const std::size_t size = co_await fermata::read_from(stream, buffer)) {
    text.append(reinterpret_cast<const char*>(buffer.data()), size);
  }
  co_return text;
}

MAIN_TYPED_TEST(Tasks, ReadFromAStream) {
  Connected<OverTcp> pair;
  const auto reader = spawn("reader", read_all(std::move(*pair.server)));
  delay(1ms);
  pair.client->write("what is ");
  delay(1ms);
  pair.client->write("written");
  pair.client.reset();
  EXPECT_EQ(await(reader), "what is written");
}

MAIN_TYPED_TEST(Tasks, AreToldOfAnEmptyStreamWhenTheyRead) {
  EXPECT_EQ(error_of([] { await(read_all(TcpStream())); }),
            "handle: an empty value: expected one that was opened, and not moved from");
}

MAIN_TYPED_TEST(Tasks, AreAwaitedByCoroutinesAndAwaitThem) {
  const auto rest = [](int number) -> Task<int> {
    co_await after(1ms);
    co_return number;
  };
  const auto sum = [&]() -> Task<int> {
    const auto meanwhile = spawn("meanwhile", rest(1));
    const auto elsewhere = spawn("elsewhere", [] {
      delay(1ms);
      return 2;
    });
    co_return co_await meanwhile + co_await elsewhere + co_await rest(4);
  };
  EXPECT_EQ(await(sum()), 7);
}

MAIN_TYPED_TEST(Tasks, OffloadWork) {
  const auto square_of = [](int number) -> Task<int> {
    co_return co_await operation([&] { return offload([number] { return number * number; }); });
  };
  EXPECT_EQ(await(square_of(7)), 49);
}

MAIN_TYPED_TEST(Tasks, AreCancelledWhereTheyWait) {
  Connected<OverTcp> pair;
  int unwound = 0;
  struct Leave {
    int& count;
    ~Leave() { ++count; }
  };
  const auto inner = [&]() -> Task<> {
    const Leave leave{unwound};
    std::array<std::byte, 4> buffer;
    co_await fermata::read_from(*pair.server, buffer);
  };
  const auto outer = [&]() -> Task<> {
    const Leave leave{unwound};
    co_await inner();
  };
  const auto carrier = spawn("carrier", outer());
  delay(1ms);
  carrier.cancel();
  EXPECT_THROW(await(carrier), Cancellation);
  EXPECT_EQ(unwound, 2);
  pair.client->write("kept");
  EXPECT_EQ(read_text(*pair.server), "kept");
}

MAIN_TYPED_TEST_WITH(Folder, TasksWithFiles, ReadFromAFile) {
  const std::string where = path("note");
  {
    File file = File::open(where, OpenMode::writing());
    file.write("four");
  }
  const auto first_of = [&]() -> Task<char> {
    File file = File::open(where);
    std::array<std::byte, 1> buffer;
    EXPECT_EQ(co_await fermata::read_from(file, buffer), 1u);
    co_return static_cast<char>(buffer[0]);
  };
  EXPECT_EQ(await(first_of()), 'f');
}

}  // namespace
}  // namespace fermata::conformance
