// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/db/lexer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "fermata/db/sql_text.hpp"
#include "fermata/sim/db/sql_error.hpp"

namespace fermata::sim::sql {

namespace {

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool begins_word(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool goes_on_word(char c) noexcept { return begins_word(c) || is_digit(c) || c == '.'; }
bool is_blank(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }

std::string in_small_letters(std::string_view text) {
  std::string small(text);
  for (char& c : small) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return small;
}

class Lexer {
 public:
  explicit Lexer(std::string_view sql) : rest_(sql) {}

  std::vector<Token> all() {
    std::vector<Token> tokens;
    while (!rest_.empty()) {
      const char first = rest_.front();
      if (is_blank(first)) {
        rest_.remove_prefix(1);
      } else if (first == '\'' || first == '"') {
        tokens.push_back(quoted(first));
      } else if (const std::size_t comment = db::quoted_length(rest_)) {
        rest_.remove_prefix(comment);
      } else if (begins_word(first)) {
        tokens.push_back({TokenKind::Word, in_small_letters(take_while(goes_on_word))});
      } else if (is_digit(first)) {
        tokens.push_back(number());
      } else if (first == '$') {
        rest_.remove_prefix(1);
        tokens.push_back({TokenKind::Parameter, take_while(is_digit)});
      } else {
        tokens.push_back({TokenKind::Sign, sign()});
      }
    }
    tokens.emplace_back();
    return tokens;
  }

 private:
  std::string take(std::size_t size) {
    std::string taken(rest_.substr(0, size));
    rest_.remove_prefix(taken.size());
    return taken;
  }

  std::string take_while(bool (*goes_on)(char) noexcept) {
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), goes_on);
    return take(static_cast<std::size_t>(end - rest_.begin()));
  }

  Token quoted(char quote) {
    std::string text;
    for (std::size_t i = 1; i < rest_.size(); ++i) {
      if (rest_[i] != quote) {
        text += rest_[i];
      } else if (i + 1 < rest_.size() && rest_[i + 1] == quote) {
        text += rest_[i++];
      } else {
        rest_.remove_prefix(i + 1);
        return {quote == '"' ? TokenKind::QuotedName : TokenKind::Text, std::move(text)};
      }
    }
    throw SqlError("42601", fmt::format("unterminated quoted string at or near \"{}\"", rest_));
  }

  Token number() {
    std::string text = take_while(is_digit);
    if (!rest_.starts_with('.')) return {TokenKind::Integer, std::move(text)};
    text += take(1);
    text += take_while(is_digit);
    return {TokenKind::Number, std::move(text)};
  }

  std::string sign() {
    for (const std::string_view two : {"<>", "<=", ">=", "!="}) {
      if (rest_.starts_with(two)) return take(2);
    }
    if (std::string_view("(),;=<>+-*").find(rest_.front()) == std::string_view::npos) {
      throw SqlError("42601", fmt::format("syntax error at or near \"{}\"", rest_.front()));
    }
    return take(1);
  }

  std::string_view rest_;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view sql) { return Lexer(sql).all(); }

}  // namespace fermata::sim::sql
