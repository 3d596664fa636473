// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/db/wire.hpp"

#include <fmt/format.h>

#include <bit>
#include <type_traits>
#include <utility>

namespace fermata::sim::wire {

namespace {

enum class CellKind : std::uint8_t { Null, False, True, Integer, Number, Text, Bytes };

std::string_view as_text(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

Writer& Writer::begin(Kind kind) {
  begin_ = bytes_.size();
  return u32(0).u8(static_cast<std::uint8_t>(kind));
}

void Writer::number(std::uint64_t number, std::size_t size) {
  for (std::size_t i = size; i-- > 0;) bytes_.push_back(static_cast<std::byte>(number >> 8 * i));
}

Writer& Writer::u8(std::uint8_t number) {
  this->number(number, 1);
  return *this;
}

Writer& Writer::u32(std::uint32_t number) {
  this->number(number, 4);
  return *this;
}

Writer& Writer::u64(std::uint64_t number) {
  this->number(number, 8);
  return *this;
}

Writer& Writer::text(std::string_view text) {
  u32(static_cast<std::uint32_t>(text.size()));
  const auto bytes = std::as_bytes(std::span(text));
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  return *this;
}

Writer& Writer::cell(const db::Cell& cell) {
  const auto kind = [this](CellKind which) -> Writer& {
    return u8(static_cast<std::uint8_t>(which));
  };
  std::visit(
      [&](const auto& value) {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, db::Null>) {
          kind(CellKind::Null);
        } else if constexpr (std::is_same_v<T, bool>) {
          kind(value ? CellKind::True : CellKind::False);
        } else if constexpr (std::is_same_v<T, std::int64_t>) {
          kind(CellKind::Integer).u64(static_cast<std::uint64_t>(value));
        } else if constexpr (std::is_same_v<T, double>) {
          kind(CellKind::Number).u64(std::bit_cast<std::uint64_t>(value));
        } else if constexpr (std::is_same_v<T, std::string_view>) {
          kind(CellKind::Text).text(value);
        } else {
          kind(CellKind::Bytes).text(as_text(value));
        }
      },
      cell);
  return *this;
}

Writer& Writer::cells(std::span<const db::Cell> cells) {
  u32(static_cast<std::uint32_t>(cells.size()));
  for (const db::Cell& each : cells) cell(each);
  return *this;
}

Writer& Writer::raw(std::span<const std::byte> fields) {
  bytes_.insert(bytes_.end(), fields.begin(), fields.end());
  return *this;
}

void Writer::end() {
  const std::size_t size = this->size() - kHeaderSize;
  for (std::size_t i = 0; i < 4; ++i) {
    bytes_[begin_ + i] = static_cast<std::byte>(size >> 8 * (3 - i));
  }
}

std::vector<std::byte> Writer::take() noexcept {
  begin_ = 0;
  return std::exchange(bytes_, {});
}

std::span<const std::byte> Reader::take(std::size_t size) {
  if (size > rest_.size()) {
    throw WireError(fmt::format("a frame ends after {} bytes, expected {}", rest_.size(), size));
  }
  const auto taken = rest_.first(size);
  rest_ = rest_.subspan(size);
  return taken;
}

std::uint64_t Reader::number(std::size_t size) {
  std::uint64_t number = 0;
  for (const std::byte byte : take(size)) number = number << 8 | std::to_integer<unsigned>(byte);
  return number;
}

std::string_view Reader::text() { return as_text(take(u32())); }

db::Cell Reader::cell() {
  switch (const std::uint8_t kind = u8(); static_cast<CellKind>(kind)) {
    case CellKind::Null:
      return {};
    case CellKind::False:
      return false;
    case CellKind::True:
      return true;
    case CellKind::Integer:
      return static_cast<std::int64_t>(u64());
    case CellKind::Number:
      return std::bit_cast<double>(u64());
    case CellKind::Text:
      return text();
    case CellKind::Bytes:
      return take(u32());
    default:
      throw WireError(fmt::format("a cell of kind {}", kind));
  }
}

std::vector<db::Value> Reader::values() {
  std::vector<db::Value> values;
  for (std::uint32_t count = u32(); count > 0; --count) values.push_back(db::own(cell()));
  return values;
}

void Reader::end() const {
  if (!rest_.empty()) throw WireError(fmt::format("a frame has {} bytes too many", rest_.size()));
}

void Assembler::add(std::span<const std::byte> bytes) {
  if (taken_ > 0) {
    bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(taken_));
    taken_ = 0;
  }
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

std::optional<Frame> Assembler::next() {
  const auto there = std::span(bytes_).subspan(taken_);
  if (there.size() < kHeaderSize) return std::nullopt;
  Reader header(there.first(kHeaderSize));
  const std::size_t size = header.u32();
  if (size > kFrameMax) throw WireError(fmt::format("a frame of {} bytes", size));
  if (there.size() - kHeaderSize < size) return std::nullopt;
  const auto fields = there.subspan(kHeaderSize, size);
  taken_ += kHeaderSize + size;
  return Frame{static_cast<Kind>(header.u8()), {fields.begin(), fields.end()}};
}

}  // namespace fermata::sim::wire
