// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/fs/image.hpp"
#include "tests/support/bytes.hpp"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fermata::sim {
namespace {

using test::text_of;

void write(FileImage& image, std::uint64_t offset, std::string_view text) {
  image.write(offset, std::as_bytes(std::span(text)));
}

TEST(FileImage, IsSeenAtOnceAndDurableAfterASync) {
  FileImage image;
  write(image, 2, "ab");
  EXPECT_EQ(text_of(image.seen()), std::string("\0\0ab", 4));
  EXPECT_EQ(text_of(image.durable()), "");
  image.sync();
  image.resize(3);
  write(image, 0, "xy");
  EXPECT_EQ(text_of(image.seen()), "xya");
  EXPECT_EQ(text_of(image.durable()), std::string("\0\0ab", 4));
  image.sync();
  EXPECT_EQ(text_of(image.durable()), "xya");
}

TEST(FileImage, ReadsWhatThereIs) {
  FileImage image;
  write(image, 0, "abc");
  std::string text(5, '-');
  const auto room = std::as_writable_bytes(std::span(text));
  EXPECT_EQ(image.read(1, room), 2u);
  EXPECT_EQ(text, "bc---");
  EXPECT_EQ(image.read(3, room), 0u);
  EXPECT_EQ(image.read(~std::uint64_t{0}, room), 0u);
}

TEST(FileImage, GivesChangesUp) {
  FileImage image;
  write(image, 0, "abc");
  image.give_up_changes();
  write(image, 3, "d");
  image.sync();
  EXPECT_EQ(text_of(image.seen()), "abcd");
  EXPECT_EQ(text_of(image.durable()), std::string("\0\0\0d", 4));
}

TEST(FileImage, KeepsWhatIsDurableWhenItIsForgotten) {
  FileImage image;
  write(image, 0, "abc");
  image.sync();
  write(image, 0, "x");
  image.forget_seen();
  EXPECT_TRUE(image.seen().empty());
  EXPECT_EQ(text_of(image.durable()), "abc");
}

TEST(FileImage, TearsAWriteOfTwoBytesInTheMiddle) {
  FileImage image;
  write(image, 0, "a");
  write(image, 1, "bc");
  std::vector<std::uint64_t> bounds;
  image.crash(
      [&](std::uint64_t, std::uint64_t bound) -> std::uint64_t {
        bounds.push_back(bound);
        return bound == 3 ? 2 : 0;
      },
      1);
  EXPECT_EQ(bounds, (std::vector<std::uint64_t>{2, 3}));
  EXPECT_EQ(text_of(image.seen()), "ab");
  EXPECT_EQ(text_of(image.durable()), "ab");
}

// A short write is the system's doing: its parts are not lost on their own within a sector.
TEST(FileImage, LosesTheRestOfAShortWriteWithItsBeginningAsFarAsTheSector) {
  const auto crashed = [](std::uint64_t offset, std::uint64_t fate_of_first) {
    FileImage image;
    write(image, 0, std::string(1024, '.'));
    image.sync();
    image.write(offset, std::as_bytes(std::span("ab", 2)), true);
    write(image, offset + 2, "cdef");
    std::uint64_t drawn = 0;
    image.crash([&](std::uint64_t, std::uint64_t) { return drawn++ == 0 ? fate_of_first : 0; }, 1);
    return text_of(image.seen()).substr(offset, 6);
  };
  EXPECT_EQ(crashed(0, 0), "abcdef");
  EXPECT_EQ(crashed(0, 1), "......") << "the first part is lost";
  EXPECT_EQ(crashed(0, 2), "a.....") << "it is torn";
  EXPECT_EQ(crashed(508, 1), "....ef") << "a sector begins between";
  EXPECT_EQ(crashed(510, 1), "..cdef");
}

TEST(FileImage, LosesAWriteWithoutTheOneThatFollowsIt) {
  FileImage image;
  write(image, 0, "ab");
  write(image, 2, "cd");
  std::uint64_t drawn = 0;
  image.crash([&](std::uint64_t, std::uint64_t) -> std::uint64_t { return drawn++ == 0; }, 1);
  EXPECT_EQ(text_of(image.seen()), std::string("\0\0cd", 4));
}

}  // namespace
}  // namespace fermata::sim
