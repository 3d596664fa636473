// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fermata/base/time.hpp"
#include "fermata/io/tcp.hpp"
#include "fermata/sim/db/postgresql_message.hpp"
#include "fermata/sim/db/postgresql_shape.hpp"

namespace fermata::sim::postgresql {

/// The messages of one client.
class Client {
 public:
  Client(TcpStream stream, std::span<const std::byte> begun) : stream_(std::move(stream)) {
    input_.add(begun);
  }

  /// The next message; nothing at the end of the stream. Throws Timeout when the client is silent.
  [[nodiscard]] std::optional<Message> read(bool first, Duration silence_max) {
    while (true) {
      if (std::optional<Message> message = input_.next(first)) return message;
      std::array<std::byte, 4096> buffer;
      const std::size_t size = stream_.read(buffer, {.timeout = silence_max});
      if (size == 0) return std::nullopt;
      input_.add(std::span(buffer).first(size));
    }
  }

  [[nodiscard]] MessageWriter& writer() noexcept { return writer_; }

  /// ErrorResponse or NoticeResponse.
  void tell(char kind, std::string_view severity, std::string_view sqlstate,
            std::string_view message) {
    writer_.begin(kind).i8('S').text(severity).i8('V').text(severity);
    writer_.i8('C').text(sqlstate).i8('M').text(message).i8('\0').end();
  }

  /// RowDescription, or NoData.
  void describe(const Shape& shape, std::span<const Format> formats) {
    if (shape.columns.empty()) return writer_.begin('n').end();
    writer_.begin('T').i16(shape.columns.size());
    for (std::size_t i = 0; i < shape.columns.size(); ++i) {
      const Oid type = shape.columns[i].type;
      writer_.text(shape.columns[i].name).i32(0).i16(0).i32(type);
      writer_.i16(static_cast<std::uint16_t>(size_of(type))).i32(0xffff'ffff);
      writer_.i16(static_cast<std::size_t>(format_of(formats, i)));
    }
    writer_.end();
  }

  void send(Duration span_max) {
    if (writer_.size() == 0) return;
    const std::string messages = writer_.take();
    const auto bytes = std::as_bytes(std::span(messages));
    stream_.write(std::vector<std::byte>(bytes.begin(), bytes.end()), {.timeout = span_max});
  }

  /// For one format, or one for each, or none, which is text.
  [[nodiscard]] static Format format_of(std::span<const Format> formats, std::size_t i) noexcept {
    if (formats.empty()) return Format::Text;
    return formats[formats.size() == 1 ? 0 : i];
  }

 private:
  TcpStream stream_;
  MessageAssembler input_;
  MessageWriter writer_;
};

}  // namespace fermata::sim::postgresql
