// SPDX-License-Identifier: Apache-2.0
#pragma once

// Messages of PostgreSQL's protocol 3.0: a kind, a length of four bytes that counts itself, fields.
// A client's first message has no kind. Numbers have their most significant byte first.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace fermata::sim::postgresql {

/// Makes messages, one behind the other.
class MessageWriter {
 public:
  MessageWriter& begin(char kind);
  MessageWriter& i8(char byte);
  MessageWriter& i16(std::size_t number);
  MessageWriter& i32(std::uint32_t number);
  /// With a NUL behind it.
  MessageWriter& text(std::string_view text);
  /// A value: its size, and itself. Nothing is NULL.
  MessageWriter& value(const std::optional<std::string>& value);
  /// Ends the message that was begun last.
  void end();

  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }
  [[nodiscard]] std::string take() noexcept;

 private:
  std::string bytes_;
  std::size_t length_at_ = 0;
};

/// Reads the fields of a message, to which text and bytes refer. Throws wire::WireError when there
/// is less than was asked for.
class MessageReader {
 public:
  explicit MessageReader(std::string_view fields) noexcept : rest_(fields) {}

  char i8() { return take(1).front(); }
  std::uint16_t i16();
  std::uint32_t i32();
  std::string_view text();
  std::string_view take(std::size_t size);
  /// Throws wire::WireError when something is left.
  void end() const;

 private:
  std::string_view rest_;
};

struct Message {
  char kind = 0;
  std::string fields;
};

/// Puts messages together from the bytes of a stream.
class MessageAssembler {
 public:
  void add(std::span<const std::byte> bytes);
  /// The next whole message; with `first`, that without a kind. Throws wire::WireError for a length
  /// that no message has.
  [[nodiscard]] std::optional<Message> next(bool first);

 private:
  std::string bytes_;
  std::size_t taken_ = 0;
};

}  // namespace fermata::sim::postgresql
