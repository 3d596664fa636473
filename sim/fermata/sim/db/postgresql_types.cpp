// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/db/postgresql_types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

#include "fermata/sim/db/sql_error.hpp"

namespace fermata::sim::postgresql {

namespace {

using sql::SqlError;

struct Type {
  std::string_view name;
  Oid oid;
  int size = -1;
};

/// The first of each number is the one that errors name.
constexpr Type kTypes[] = {
    {"boolean", oid::kBool, 1},
    {"bool", oid::kBool, 1},
    {"bytea", oid::kBytes},
    {"bigint", oid::kInt8, 8},
    {"int8", oid::kInt8, 8},
    {"bigserial", oid::kInt8, 8},
    {"smallint", oid::kInt2, 2},
    {"int2", oid::kInt2, 2},
    {"integer", oid::kInt4, 4},
    {"int", oid::kInt4, 4},
    {"int4", oid::kInt4, 4},
    {"serial", oid::kInt4, 4},
    {"text", oid::kText},
    {"real", oid::kFloat4, 4},
    {"float4", oid::kFloat4, 4},
    {"double", oid::kFloat8, 8},
    {"float", oid::kFloat8, 8},
    {"float8", oid::kFloat8, 8},
    {"numeric", oid::kNumeric},
    {"decimal", oid::kNumeric},
    {"varchar", 1043},
    {"character", 1043},
    {"char", 1042},
    {"json", 114},
    {"jsonb", 3802},
    {"uuid", 2950, 16},
    {"date", 1082, 4},
    {"time", 1083, 8},
    {"timestamp", 1114, 8},
    {"timestamptz", 1184, 8},
    {"void", oid::kVoid, 4},
};

const Type& known_type(Oid oid) noexcept {
  const auto* const found = std::find_if(std::begin(kTypes), std::end(kTypes),
                                         [&](const Type& each) { return each.oid == oid; });
  return found != std::end(kTypes) ? *found : known_type(oid::kText);
}

bool is_integer(Oid type) noexcept {
  return type == oid::kInt2 || type == oid::kInt4 || type == oid::kInt8;
}

[[noreturn]] void bad_text(Oid type, std::string_view text) {
  throw SqlError("22P02",
                 fmt::format("invalid input syntax for type {}: \"{}\"", name_of(type), text));
}

[[noreturn]] void no_binary_format(Oid type) {
  throw SqlError("0A000", fmt::format("type {} has no binary format here", name_of(type)));
}

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\r\v\f";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

template <class Number>
Number number_in(Oid type, std::string_view text) {
  std::string_view digits = without_blanks(text);
  if (digits.starts_with('+')) digits.remove_prefix(1);
  Number number{};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error == std::errc::result_out_of_range) {
    throw SqlError("22003",
                   fmt::format("value \"{}\" is out of range for type {}", text, name_of(type)));
  }
  if (error != std::errc() || end != digits.data() + digits.size()) bad_text(type, text);
  return number;
}

std::int64_t in_range(Oid type, std::int64_t number) {
  const int bits = 8 * size_of(type) - 1;
  const std::int64_t least = std::numeric_limits<std::int64_t>::min() >> (63 - bits);
  if (number < least || number > ~least) {
    throw SqlError("22003",
                   fmt::format("value \"{}\" is out of range for type {}", number, name_of(type)));
  }
  return number;
}

bool truth_in(std::string_view text) {
  std::string word(without_blanks(text));
  for (char& c : word) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const std::string_view yes : {"t", "true", "y", "yes", "on", "1"}) {
    if (word == yes) return true;
  }
  for (const std::string_view no : {"f", "false", "n", "no", "off", "0"}) {
    if (word == no) return false;
  }
  bad_text(oid::kBool, text);
}

db::Bytes as_bytes(std::string_view text) {
  const auto* const first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

db::Bytes bytes_in(std::string_view text) {
  if (!text.starts_with("\\x")) {
    if (text.find('\\') != std::string_view::npos) bad_text(oid::kBytes, text);
    return as_bytes(text);
  }
  db::Bytes bytes;
  for (std::size_t at = 2; at < text.size(); at += 2) {
    unsigned byte = 0;
    const char* const end = text.data() + std::min(at + 2, text.size());
    const auto [stopped, error] = std::from_chars(text.data() + at, end, byte, 16);
    if (error != std::errc() || stopped != text.data() + at + 2) bad_text(oid::kBytes, text);
    bytes.push_back(static_cast<std::byte>(byte));
  }
  return bytes;
}

db::Value text_in(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) {
    throw SqlError("22021", "invalid byte sequence for encoding \"UTF8\": 0x00");
  }
  return std::string(text);
}

db::Value decode_text(Oid type, std::string_view text) {
  if (type == oid::kBool) return truth_in(text);
  if (type == oid::kBytes) return bytes_in(text);
  if (is_integer(type)) return in_range(type, number_in<std::int64_t>(type, text));
  if (category_of(type) != Category::Number) return text_in(text);
  const auto number = number_in<double>(type, text);
  const bool is_whole = text.find_first_of(".eEnN") == std::string_view::npos;
  if (type == oid::kNumeric && is_whole) return number_in<std::int64_t>(type, text);
  return number;
}

db::Value decode_binary(Oid type, std::string_view bytes) {
  if (type == oid::kBytes) return as_bytes(bytes);
  const int size = size_of(type);
  if (size < 0 && category_of(type) == Category::Text) return text_in(bytes);
  if (size < 0 || size > 8 || category_of(type) == Category::Text) no_binary_format(type);
  if (bytes.size() != static_cast<std::size_t>(size)) {
    throw SqlError("22P03", fmt::format("{} bytes for type {}", bytes.size(), name_of(type)));
  }
  std::uint64_t bits = 0;
  for (const char byte : bytes) bits = bits << 8 | static_cast<unsigned char>(byte);
  if (type == oid::kBool) return bits != 0;
  if (type == oid::kFloat4) return double{std::bit_cast<float>(static_cast<std::uint32_t>(bits))};
  if (type == oid::kFloat8) return std::bit_cast<double>(bits);
  const int unused = 64 - 8 * size;
  return static_cast<std::int64_t>(bits << unused) >> unused;
}

std::string number_text(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number < 0 ? "-Infinity" : "Infinity";
  return fmt::format("{}", number);
}

std::string text_of(const db::Value& value) {
  struct Writer {
    std::string operator()(db::Null) const { return {}; }
    std::string operator()(bool truth) const { return truth ? "t" : "f"; }
    std::string operator()(std::int64_t number) const { return fmt::to_string(number); }
    std::string operator()(double number) const { return number_text(number); }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(const db::Bytes& bytes) const {
      std::string text = "\\x";
      for (const std::byte byte : bytes) text += fmt::format("{:02x}", std::to_integer<int>(byte));
      return text;
    }
  };
  return std::visit(Writer(), value);
}

std::string big_endian(std::uint64_t bits, int size) {
  std::string bytes;
  for (int i = size; i-- > 0;) bytes += static_cast<char>(bits >> 8 * i);
  return bytes;
}

std::string binary_of(Oid type, const db::Value& value) {
  const int size = size_of(type);
  if (const auto* const bytes = std::get_if<db::Bytes>(&value)) {
    return {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
  }
  if (const auto* const truth = std::get_if<bool>(&value)) return big_endian(*truth ? 1 : 0, 1);
  if (type == oid::kFloat4 || type == oid::kFloat8) {
    const auto* const integer = std::get_if<std::int64_t>(&value);
    const double number =
        integer != nullptr ? static_cast<double>(*integer) : std::get<double>(value);
    if (type == oid::kFloat8) return big_endian(std::bit_cast<std::uint64_t>(number), size);
    return big_endian(std::bit_cast<std::uint32_t>(static_cast<float>(number)), size);
  }
  if (const auto* const integer = std::get_if<std::int64_t>(&value); is_integer(type)) {
    return big_endian(static_cast<std::uint64_t>(*integer), size);
  }
  if (size >= 0 || category_of(type) != Category::Text) no_binary_format(type);
  return text_of(value);
}

/// Whether a value can stand in a column of `type`. Text can say everything.
bool fits(Oid type, const db::Value& value) {
  if (type == oid::kVoid) return false;
  switch (category_of(type)) {
    case Category::Truth:
      return std::holds_alternative<bool>(value);
    case Category::Bytes:
      return std::holds_alternative<db::Bytes>(value);
    case Category::Number:
      return std::holds_alternative<std::int64_t>(value) ||
             (!is_integer(type) && std::holds_alternative<double>(value));
    case Category::Text:
      break;
  }
  return true;
}

}  // namespace

Oid type_named(std::string_view word) noexcept {
  const auto* const found = std::find_if(std::begin(kTypes), std::end(kTypes),
                                         [&](const Type& each) { return each.name == word; });
  return found != std::end(kTypes) ? found->oid : oid::kText;
}

std::string_view name_of(Oid type) noexcept { return known_type(type).name; }

int size_of(Oid type) noexcept { return known_type(type).size; }

Category category_of(Oid type) noexcept {
  if (type == oid::kBool) return Category::Truth;
  if (type == oid::kBytes) return Category::Bytes;
  const bool is_number =
      is_integer(type) || type == oid::kFloat4 || type == oid::kFloat8 || type == oid::kNumeric;
  return is_number ? Category::Number : Category::Text;
}

db::Value decode(Oid type, Format format, std::string_view bytes) {
  return format == Format::Text ? decode_text(type, bytes) : decode_binary(type, bytes);
}

std::optional<std::string> encode(Oid type, Format format, const db::Value& value) {
  if (std::holds_alternative<db::Null>(value)) {
    if (type == oid::kVoid) return std::string();
    return std::nullopt;
  }
  if (!fits(type, value)) {
    throw SqlError("42804", fmt::format("a column of type {} holds {}, which PostgreSQL would not",
                                        name_of(type), db::kind_of(db::view(value))));
  }
  return format == Format::Text ? text_of(value) : binary_of(type, value);
}

}  // namespace fermata::sim::postgresql
