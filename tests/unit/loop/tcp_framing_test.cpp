// SPDX-License-Identifier: Apache-2.0
#include "fermata/loop/tcp/framing.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/error_of.hpp"

namespace fermata::loop {
namespace {

using test::error_of;

/// The messages in `bytes`, which arrive one by one.
std::vector<std::string> messages_of(Framing& framing, const std::string& bytes) {
  std::vector<std::string> messages;
  std::string buffer;
  for (const char byte : bytes) {
    buffer += byte;
    const std::int64_t length = framing.frame_length(buffer);
    if (length == 0 || buffer.size() < static_cast<std::size_t>(length)) continue;
    messages.emplace_back(framing.decode(buffer));
    buffer.clear();
  }
  return messages;
}

TEST(LineFraming, CutsAtEachLineFeedAndStripsCarriageReturns) {
  LineFraming framing;
  EXPECT_EQ(messages_of(framing, "one\ntwo\r\n\n\r\na\rb\n"),
            (std::vector<std::string>{"one", "two", "", "", "a\rb"}));
}

TEST(LineFraming, FindsALineBehindWhatItHasSearchedAlready) {
  LineFraming framing;
  EXPECT_EQ(framing.frame_length("half"), 0);
  EXPECT_EQ(framing.frame_length("half a line\nnext"), 12);
  EXPECT_EQ(framing.frame_length("\n"), 1);
}

TEST(LineFraming, RefusesAMessageOfTwoLines) {
  LineFraming framing;
  std::string frame;
  EXPECT_EQ(error_of([&] { framing.encode("one\ntwo", frame); }),
            "send: line feed at byte 3 of a message, expected one line");
  EXPECT_EQ(frame, "");
}

TEST(LengthFraming, ReadsBackWhatItEncodes) {
  LengthFraming framing;
  const std::vector<std::string> messages{"", "a", std::string(300, 'x'), std::string("\0\n", 2)};
  std::string bytes;
  for (const std::string& message : messages) framing.encode(message, bytes);
  EXPECT_EQ(messages_of(framing, bytes), messages);
}

TEST(LengthFraming, CountsItsOwnHeaderHighestByteFirst) {
  LengthFraming framing;
  std::string frame;
  framing.encode("abc", frame);
  EXPECT_EQ(frame, std::string("\0\0\0\7abc", 7));
  EXPECT_EQ(framing.frame_length(std::string("\0\1\0\0", 4)), 65'536);
  EXPECT_EQ(framing.frame_length("\xff\xff\xff\xff"), 4'294'967'295);
}

TEST(LengthFraming, RefusesALengthThatHasNoRoomForItself) {
  for (const int length : {0, 1, 2, 3}) {
    LengthFraming framing;
    const std::string frame = std::string(3, '\0') + static_cast<char>(length);
    EXPECT_EQ(framing.frame_length(frame.substr(0, 3)), 0);
    EXPECT_EQ(error_of([&] { static_cast<void>(framing.frame_length(frame)); }),
              "frame length " + std::to_string(length) + ", expected at least the 4 of its header");
  }
}

}  // namespace
}  // namespace fermata::loop
