// SPDX-License-Identifier: Apache-2.0
#include "fermata/loop/tcp/framing.hpp"

#include <fmt/format.h>

#include <limits>

namespace fermata::loop {

std::int64_t LineFraming::frame_length(std::string_view buffer) {
  const std::size_t end = buffer.find('\n', searched_);
  if (end == std::string_view::npos) {
    searched_ = buffer.size();
    return 0;
  }
  searched_ = 0;
  return static_cast<std::int64_t>(end + 1);
}

std::string_view LineFraming::decode(std::string_view frame) {
  frame.remove_suffix(1);
  if (frame.ends_with('\r')) frame.remove_suffix(1);
  return frame;
}

void LineFraming::encode(std::string_view message, std::string& frame) {
  if (const std::size_t at = message.find('\n'); at != std::string_view::npos) {
    throw UsageError(fmt::format("send: line feed at byte {} of a message, expected one line", at));
  }
  frame += message;
  frame += '\n';
}

std::int64_t LengthFraming::frame_length(std::string_view buffer) {
  if (buffer.size() < kHeader) return 0;
  std::uint32_t length = 0;
  for (const char byte : buffer.substr(0, kHeader)) {
    length = length << 8 | static_cast<std::uint8_t>(byte);
  }
  if (length < kHeader) {
    throw ProtocolError(
        fmt::format("frame length {}, expected at least the {} of its header", length, kHeader));
  }
  return length;
}

void LengthFraming::encode(std::string_view message, std::string& frame) {
  constexpr std::size_t kMost = std::numeric_limits<std::uint32_t>::max() - kHeader;
  if (message.size() > kMost) {
    throw UsageError(
        fmt::format("send: message of {} bytes, expected at most {}", message.size(), kMost));
  }
  const auto length = static_cast<std::uint32_t>(message.size() + kHeader);
  for (int shift = 24; shift >= 0; shift -= 8) frame += static_cast<char>(length >> shift);
  frame += message;
}

}  // namespace fermata::loop
