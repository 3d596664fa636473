// SPDX-License-Identifier: Apache-2.0
#include "fermata/loop/tcp/send_queue.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/error_of.hpp"

namespace fermata::loop {
namespace {

using Edge = SendQueue::Edge;

std::string take(SendQueue& queue, std::size_t most) {
  std::string bytes;
  for (const std::span<const std::byte> each : queue.front(most)) {
    bytes.append(reinterpret_cast<const char*>(each.data()), each.size());
  }
  queue.take_front();
  return bytes;
}

TEST(SendQueue, KeepsTheOrderOfSmallAndLargeMessages) {
  SendQueue queue({.high = 1'000'000, .low = 1});
  std::string all;
  for (int i = 0; i < 200; ++i) {
    const std::string message(i % 7 == 0 ? 20'000 : 100, static_cast<char>('a' + i % 26));
    all += message;
    queue.push(message);
  }
  EXPECT_EQ(queue.size(), all.size());
  std::string written;
  while (!queue.empty()) {
    written += take(queue, 65'536);
    queue.written();
  }
  EXPECT_EQ(written, all);
}

TEST(SendQueue, TellsFullAndDrainedOnceForEachCrossing) {
  SendQueue queue({.high = 100, .low = 40});
  EXPECT_EQ(queue.push(std::string(99, 'x')), Edge::None);
  EXPECT_FALSE(queue.at_limit());
  EXPECT_EQ(queue.push(std::string(50, 'x')), Edge::Full);
  EXPECT_TRUE(queue.at_limit());
  EXPECT_EQ(queue.push("last words"), Edge::None);
  take(queue, 1'000);
  queue.push(std::string(50, 'x'));
  EXPECT_EQ(queue.written(), Edge::None) << "50 bytes are more than the low mark";
  EXPECT_FALSE(queue.at_limit());
  EXPECT_TRUE(queue.is_full());
  EXPECT_EQ(queue.push(std::string(60, 'x')), Edge::None) << "not drained yet";
  take(queue, 1'000);
  EXPECT_EQ(queue.written(), Edge::Drained);
  EXPECT_EQ(queue.push(std::string(100, 'x')), Edge::Full);
}

TEST(SendQueue, TellsNoDrainWithoutAFull) {
  SendQueue queue({.high = 100, .low = 40});
  queue.push(std::string(90, 'x'));
  take(queue, 1'000);
  EXPECT_EQ(queue.written(), Edge::None);
}

TEST(SendQueue, CountsWhatIsBeingWritten) {
  SendQueue queue({.high = 100, .low = 40});
  queue.push(std::string(100, 'x'));
  take(queue, 1'000);
  EXPECT_FALSE(queue.has_waiting());
  EXPECT_EQ(queue.size(), 100u);
  EXPECT_TRUE(queue.at_limit());
}

TEST(WaterMarks, NeedTheLowOneBelowTheHighOne) {
  EXPECT_EQ(test::error_of([] { WaterMarks{.high = 5, .low = 5}.check(); }),
            "water marks: low 5, high 5: expected the low one below the high one");
}

}  // namespace
}  // namespace fermata::loop
