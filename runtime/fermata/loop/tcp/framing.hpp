// SPDX-License-Identifier: Apache-2.0
#pragma once

// How a stream of bytes is cut into messages, and messages are made into bytes.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "fermata/base/error.hpp"

namespace fermata::loop {

/// The peer does not keep to the protocol.
class ProtocolError : public Linkable<ProtocolError> {
 public:
  using Linkable::Linkable;
};

/// The framing of one connection: it may keep state. An error thrown by its functions breaks the
/// connection, except in encode(): that error goes to the sender.
class Framing {
 public:
  virtual ~Framing() = default;

  /// The length of the frame that `buffer`, never empty, begins with: 0 while that is not known,
  /// negative when it is not a frame. `buffer` shows at most one byte more than a package may have;
  /// it grows from call to call until the frame was cut off.
  [[nodiscard]] virtual std::int64_t frame_length(std::string_view buffer) = 0;
  /// The message in a whole frame; it may lie in the frame, or in here until the next call.
  [[nodiscard]] virtual std::string_view decode(std::string_view frame) { return frame; }
  /// Appends the frame of `message` to `frame`.
  virtual void encode(std::string_view message, std::string& frame) { frame += message; }
};

using FramingPtr = std::unique_ptr<Framing>;

/// Messages are lines. What comes may end with "\n" or "\r\n", what is sent ends with "\n";
/// encode() throws UsageError for a message with a line feed in it.
class LineFraming final : public Framing {
 public:
  [[nodiscard]] std::int64_t frame_length(std::string_view buffer) override;
  [[nodiscard]] std::string_view decode(std::string_view frame) override;
  void encode(std::string_view message, std::string& frame) override;

 private:
  std::size_t searched_ = 0;  // Bytes that hold no line feed.
};

/// Four bytes before each message tell the length of the frame, these four included, the highest
/// byte first. Less than 4 is a ProtocolError.
class LengthFraming final : public Framing {
 public:
  static constexpr std::size_t kHeader = 4;

  [[nodiscard]] std::int64_t frame_length(std::string_view buffer) override;
  [[nodiscard]] std::string_view decode(std::string_view frame) override {
    return frame.substr(kHeader);
  }
  /// Throws UsageError for a message that a 32-bit length cannot tell.
  void encode(std::string_view message, std::string& frame) override;
};

}  // namespace fermata::loop
