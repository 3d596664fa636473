// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/net/pipe.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/support/checks.hpp"

namespace fermata::sim::detail {
namespace {

std::span<const std::byte> bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string read_all(Pipe& pipe) {
  const auto unread = pipe.peek();
  std::string text(reinterpret_cast<const char*>(unread.data()), unread.size());
  pipe.consume(unread.size());
  return text;
}

TEST(Pipe, CarriesBytesInTheirTime) {
  Pipe pipe;
  pipe.send(bytes("one"), Instant{10});
  pipe.send(bytes("two"), Instant{20});
  EXPECT_EQ(pipe.next_arrival(), Instant{10});
  pipe.arrive(Instant{10});
  EXPECT_EQ(read_all(pipe), "one");
  EXPECT_EQ(pipe.next_arrival(), Instant{20});
  pipe.arrive(Instant{30});
  EXPECT_EQ(read_all(pipe), "two");
  EXPECT_EQ(pipe.next_arrival(), Instant::never());
}

TEST(Pipe, NeverLetsOneSegmentOvertakeAnother) {
  FERMATA_CHECKS("IO-03");
  Pipe pipe;
  pipe.send(bytes("slow,"), Instant{100});
  pipe.send(bytes("fast"), Instant{1});
  pipe.send_end(Instant{2});
  pipe.arrive(Instant{99});
  EXPECT_EQ(pipe.unread(), 0u);
  EXPECT_FALSE(pipe.is_ended());
  pipe.arrive(Instant{100});
  EXPECT_EQ(read_all(pipe), "slow,fast");
  EXPECT_TRUE(pipe.is_ended());
}

TEST(Pipe, HoldsNoMoreThanItsWindow) {
  Pipe pipe;
  const std::string data(Pipe::kWindow - 10, 'x');
  pipe.send(bytes(data), Instant{1});
  EXPECT_EQ(pipe.room(), 10u);
  pipe.arrive(Instant{1});
  EXPECT_EQ(pipe.room(), 10u);
  pipe.consume(100);
  EXPECT_EQ(pipe.room(), 110u);
}

TEST(Pipe, LosesWithTheSenderWhatTheReceiverHasNoRoomFor) {
  Pipe pipe;
  pipe.set_receiver_buffer(4);
  pipe.send(bytes("one"), Instant{1});
  pipe.send(bytes("two"), Instant{2});
  pipe.send(bytes("three"), Instant{3});
  pipe.send_end(Instant{3});
  pipe.arrive(Instant{2});
  pipe.lose_unsent();
  pipe.send_reset(Instant{4});
  pipe.arrive(Instant{9});
  EXPECT_EQ(read_all(pipe), "onet");
  EXPECT_TRUE(pipe.is_broken());
  EXPECT_FALSE(pipe.is_ended());
}

TEST(Pipe, LosesNothingThatHasRoom) {
  Pipe pipe;
  pipe.send(bytes("all"), Instant{1});
  pipe.send_end(Instant{1});
  pipe.lose_unsent();
  pipe.arrive(Instant{1});
  EXPECT_EQ(read_all(pipe), "all");
  EXPECT_TRUE(pipe.is_ended());
}

TEST(Pipe, ForgetsTheLastOfWhatHasArrived) {
  Pipe pipe;
  pipe.send(bytes("keptrefused."), Instant{1});
  pipe.send(bytes("later"), Instant{2});
  pipe.arrive(Instant{1});
  pipe.drop_last(8);
  EXPECT_EQ(read_all(pipe), "kept");
  pipe.arrive(Instant{2});
  EXPECT_EQ(read_all(pipe), "later");
}

TEST(Pipe, CarriesNothingBehindAReset) {
  Pipe pipe;
  pipe.send(bytes("last words"), Instant{1});
  pipe.send_reset(Instant{2});
  pipe.send(bytes("never"), Instant{3});
  pipe.send_end(Instant{3});
  pipe.arrive(Instant{9});
  EXPECT_EQ(read_all(pipe), "last words");
  EXPECT_TRUE(pipe.is_broken());
  EXPECT_FALSE(pipe.is_ended());
}

}  // namespace
}  // namespace fermata::sim::detail
