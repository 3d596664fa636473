// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fermata::sim::sql {

enum class TokenKind : std::uint8_t {
  Word,        // A keyword or a name, in small letters.
  QuotedName,  // "Name", without the quotes.
  Integer,
  Number,
  Text,       // 'text', without the quotes.
  Parameter,  // $1: "1".
  Sign,
  End,
};

struct Token {
  TokenKind kind = TokenKind::End;
  std::string text;
};

/// The last one is the End. Throws SqlError 42601.
[[nodiscard]] std::vector<Token> tokens_of(std::string_view sql);

}  // namespace fermata::sim::sql
