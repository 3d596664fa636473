// SPDX-License-Identifier: Apache-2.0
#include "fermata/db/postgresql/cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>
#include <type_traits>

#include "fermata/base/assert.hpp"
#include "fermata/db/errors.hpp"

namespace fermata::db::postgresql {

namespace {

// Of types that every server has; see its catalogue pg_type.
constexpr Oid kUnknown = 0;
constexpr Oid kBool = 16;
constexpr Oid kBytes = 17;
constexpr Oid kInt8 = 20;
constexpr Oid kInt2 = 21;
constexpr Oid kInt4 = 23;
constexpr Oid kOid = 26;
constexpr Oid kFloat4 = 700;
constexpr Oid kFloat8 = 701;

constexpr std::size_t kParametersMax = 65'535;

template <class T>
Cell number_in(std::string_view text) {
  T number{};
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::byte digit(char c) noexcept {
  return static_cast<std::byte>(c <= '9' ? c - '0' : c - 'a' + 10);
}

/// `text` is each byte itself, but \\ for a backslash and \ooo for some others.
BytesView escaped_bytes_in(std::string_view text, Bytes& into) {
  into.clear();
  while (!text.empty()) {
    std::size_t length = 1;
    auto byte = static_cast<std::byte>(text.front());
    if (text.starts_with("\\\\")) {
      length = 2;
    } else if (text.front() == '\\' && text.size() >= 4) {
      length = 4;
      byte = (digit(text[1]) << 6) | (digit(text[2]) << 3) | digit(text[3]);
    }
    into.push_back(byte);
    text.remove_prefix(length);
  }
  return into;
}

/// `text` is \x and two digits for each byte, unless the session's bytea_output is another.
BytesView bytes_in(std::string_view text, Bytes& into) {
  if (!text.starts_with("\\x")) return escaped_bytes_in(text, into);
  into.resize((text.size() - 2) / 2);
  for (std::size_t i = 0; i < into.size(); ++i) {
    into[i] = (digit(text[2 + 2 * i]) << 4) | digit(text[3 + 2 * i]);
  }
  return into;
}

}  // namespace

Arguments::Arguments(const std::string& database, Parameters parameters) {
  const auto refuse = [&](std::string_view what) {
    throw ParameterError(database, sqlstate::kBadParameters, what);
  };
  if (parameters.size() > kParametersMax) {
    refuse(fmt::format("{} parameters: expected at most {}", parameters.size(), kParametersMax));
  }
  texts_.reserve(parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto* const text = std::get_if<std::string_view>(&parameters[i]);
    if (text != nullptr && text->find('\0') != std::string_view::npos) {
      refuse(fmt::format("parameter ${} has a NUL: expected text without", i + 1));
    }
    const auto* const bytes = std::get_if<BytesView>(&parameters[i]);
    const std::size_t size = text != nullptr ? text->size() : bytes != nullptr ? bytes->size() : 0;
    if (size > static_cast<std::size_t>(std::numeric_limits<int>::max()) / 2) {
      refuse(fmt::format("parameter ${} has {} bytes: expected less than 1 GiB", i + 1, size));
    }
    add(parameters[i]);
  }
}

void Arguments::add(const Cell& cell) {
  const auto put = [&](Oid type, const char* value, std::size_t length, int format) {
    types_.push_back(type);
    values_.push_back(value);
    lengths_.push_back(static_cast<int>(length));
    formats_.push_back(format);
  };
  std::visit(
      [&](const auto& held) {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, Null>) {
          put(kUnknown, nullptr, 0, 0);
        } else if constexpr (std::is_same_v<Held, bool>) {
          put(kBool, held ? "t" : "f", 1, 0);
        } else if constexpr (std::is_same_v<Held, BytesView>) {
          // No bytes are not NULL.
          put(kBytes, held.empty() ? "" : reinterpret_cast<const char*>(held.data()), held.size(),
              1);
        } else {
          constexpr Oid kType = std::is_same_v<Held, std::string_view> ? kUnknown
                                : std::is_same_v<Held, double>         ? kFloat8
                                                                       : kInt8;
          FERMATA_ASSERT(texts_.size() < texts_.capacity());  // Values refer to them.
          const std::string& text = texts_.emplace_back(fmt::format("{}", held));
          put(kType, text.c_str(), text.size(), 0);
        }
      },
      cell);
}

Decoder::Decoder(const PGresult& result) {
  const int columns = PQnfields(&result);
  for (int i = 0; i < columns; ++i) {
    names_.emplace_back(PQfname(&result, i));
    types_.push_back(PQftype(&result, i));
  }
  bytes_.resize(names_.size());
}

void Decoder::decode(const PGresult& result, int row, std::vector<Cell>& cells) {
  FERMATA_ASSERT(0 <= row && row < PQntuples(&result));
  cells.resize(names_.size());
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const int column = static_cast<int>(i);
    const int length = PQgetlength(&result, row, column);
    if (length == 0 && PQgetisnull(&result, row, column) != 0) {
      cells[i] = Null();
      continue;
    }
    const std::string_view text(PQgetvalue(&result, row, column), static_cast<std::size_t>(length));
    switch (types_[i]) {
      case kBool:
        cells[i] = text == "t";
        break;
      case kInt2:
      case kInt4:
      case kInt8:
      case kOid:
        cells[i] = number_in<std::int64_t>(text);
        break;
      case kFloat4:
      case kFloat8:
        cells[i] = number_in<double>(text);
        break;
      case kBytes:
        cells[i] = bytes_in(text, bytes_[i]);
        break;
      default:
        cells[i] = text;
    }
  }
}

}  // namespace fermata::db::postgresql
