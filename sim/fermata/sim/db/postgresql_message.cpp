// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/db/postgresql_message.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/sim/db/wire.hpp"

namespace fermata::sim::postgresql {

namespace {

constexpr std::size_t kLengthSize = 4;
constexpr std::size_t kFirstMax = 10'000;  // PostgreSQL has the same.
constexpr std::uint32_t kNull = 0xffff'ffff;

std::uint32_t big_endian_in(std::string_view bytes) noexcept {
  std::uint32_t number = 0;
  for (const char byte : bytes) number = number << 8 | static_cast<unsigned char>(byte);
  return number;
}

void put(std::string& bytes, std::size_t at, std::uint32_t number) {
  for (std::size_t i = 0; i < kLengthSize; ++i) {
    bytes[at + i] = static_cast<char>(number >> 8 * (kLengthSize - 1 - i));
  }
}

}  // namespace

MessageWriter& MessageWriter::begin(char kind) {
  bytes_ += kind;
  length_at_ = bytes_.size();
  return i32(0);
}

MessageWriter& MessageWriter::i8(char byte) {
  bytes_ += byte;
  return *this;
}

MessageWriter& MessageWriter::i16(std::size_t number) {
  FERMATA_ASSERT(number <= std::numeric_limits<std::uint16_t>::max());
  bytes_ += static_cast<char>(number >> 8);
  bytes_ += static_cast<char>(number);
  return *this;
}

MessageWriter& MessageWriter::i32(std::uint32_t number) {
  bytes_.append(kLengthSize, '\0');
  put(bytes_, bytes_.size() - kLengthSize, number);
  return *this;
}

MessageWriter& MessageWriter::text(std::string_view text) {
  bytes_ += text;
  return i8('\0');
}

MessageWriter& MessageWriter::value(const std::optional<std::string>& value) {
  if (!value) return i32(kNull);
  i32(static_cast<std::uint32_t>(value->size()));
  bytes_ += *value;
  return *this;
}

void MessageWriter::end() {
  put(bytes_, length_at_, static_cast<std::uint32_t>(bytes_.size() - length_at_));
}

std::string MessageWriter::take() noexcept { return std::exchange(bytes_, {}); }

std::uint16_t MessageReader::i16() { return static_cast<std::uint16_t>(big_endian_in(take(2))); }

std::uint32_t MessageReader::i32() { return big_endian_in(take(4)); }

std::string_view MessageReader::text() {
  const std::size_t size = rest_.find('\0');
  if (size == std::string_view::npos) throw wire::WireError("a text without an end in a message");
  const std::string_view text = take(size);
  rest_.remove_prefix(1);
  return text;
}

std::string_view MessageReader::take(std::size_t size) {
  if (size > rest_.size()) {
    throw wire::WireError(
        fmt::format("{} bytes left in a message, expected {}", rest_.size(), size));
  }
  const std::string_view taken = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return taken;
}

void MessageReader::end() const {
  if (!rest_.empty()) {
    throw wire::WireError(fmt::format("{} bytes too many in a message", rest_.size()));
  }
}

void MessageAssembler::add(std::span<const std::byte> bytes) {
  bytes_.erase(0, std::exchange(taken_, 0));
  bytes_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

std::optional<Message> MessageAssembler::next(bool first) {
  const std::size_t header = first ? 0 : 1;
  const std::string_view rest = std::string_view(bytes_).substr(taken_);
  if (rest.size() < header + kLengthSize) return std::nullopt;
  const std::size_t length = big_endian_in(rest.substr(header, kLengthSize));
  if (length < kLengthSize || length > (first ? kFirstMax : wire::kFrameMax)) {
    throw wire::WireError(fmt::format("a message of {} bytes", length));
  }
  if (rest.size() < header + length) return std::nullopt;
  taken_ += header + length;
  return Message{first ? '\0' : rest.front(),
                 std::string(rest.substr(header + kLengthSize, length - kLengthSize))};
}

}  // namespace fermata::sim::postgresql
