// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/json_line.hpp"

#include <fmt/format.h>

namespace fermata::sim {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

bool continues(std::string_view text, std::size_t at, unsigned char least, unsigned char most) {
  if (at >= text.size()) return false;
  const auto byte = static_cast<unsigned char>(text[at]);
  return byte >= least && byte <= most;
}

/// How many bytes the UTF-8 sequence at `at` has; 0 when it is none (RFC 3629).
std::size_t sequence_length(std::string_view text, std::size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80) return 1;
  std::size_t length = 0;
  unsigned char least = 0x80;
  unsigned char most = 0xbf;
  if (first >= 0xc2 && first <= 0xdf) {
    length = 2;
  } else if (first >= 0xe0 && first <= 0xef) {
    length = 3;
    if (first == 0xe0) least = 0xa0;
    if (first == 0xed) most = 0x9f;
  } else if (first >= 0xf0 && first <= 0xf4) {
    length = 4;
    if (first == 0xf0) least = 0x90;
    if (first == 0xf4) most = 0x8f;
  } else {
    return 0;
  }
  if (!continues(text, at + 1, least, most)) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (!continues(text, at + i, 0x80, 0xbf)) return 0;
  }
  return length;
}

void append_escaped(std::string& out, char letter) {
  switch (letter) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    default:
      break;
  }
  if (static_cast<unsigned char>(letter) < 0x20) {
    out += fmt::format("\\u{:04x}", static_cast<unsigned>(letter));
  } else {
    out += letter;
  }
}

}  // namespace

std::string as_utf8(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_length(text, at);
    out += length == 0 ? kReplacement : text.substr(at, length);
    at += length == 0 ? 1 : length;
  }
  return out;
}

std::string json_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char letter : as_utf8(text)) append_escaped(out, letter);
  return out + '"';
}

void JsonLine::begin(std::string_view name) {
  if (!members_.empty()) members_ += ',';
  members_ += json_quoted(name) + ':';
}

JsonLine& JsonLine::add(std::string_view name, std::string_view text) {
  begin(name);
  members_ += json_quoted(text);
  return *this;
}

JsonLine& JsonLine::add(std::string_view name, std::uint64_t number) {
  begin(name);
  members_ += std::to_string(number);
  return *this;
}

JsonLine& JsonLine::add_signed(std::string_view name, std::int64_t number) {
  begin(name);
  members_ += std::to_string(number);
  return *this;
}

JsonLine& JsonLine::add(std::string_view name, bool value) {
  begin(name);
  members_ += value ? "true" : "false";
  return *this;
}

JsonLine& JsonLine::add(std::string_view name, const JsonLine& object) {
  begin(name);
  members_ += object.text();
  return *this;
}

JsonLine& JsonLine::add(std::string_view name, const std::vector<JsonLine>& objects) {
  begin(name);
  members_ += '[';
  for (std::size_t i = 0; i < objects.size(); ++i) {
    if (i > 0) members_ += ',';
    members_ += objects[i].text();
  }
  members_ += ']';
  return *this;
}

}  // namespace fermata::sim
