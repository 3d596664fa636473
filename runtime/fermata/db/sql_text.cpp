// SPDX-License-Identifier: Apache-2.0
#include "fermata/db/sql_text.hpp"

#include <algorithm>
#include <string>

#include "fermata/base/assert.hpp"

namespace fermata::db {

namespace {

std::size_t through(std::string_view sql, std::string_view mark, std::size_t from) noexcept {
  const std::size_t found = sql.find(mark, from);
  return found == std::string_view::npos ? sql.size() : found + mark.size();
}

bool is_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80) != 0;
}
bool is_word(char c) noexcept { return is_letter(c) || (c >= '0' && c <= '9'); }
bool is_space(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// Like through(), but a mark behind a backslash does not count.
std::size_t through_unescaped(std::string_view sql, char mark, std::size_t from) noexcept {
  for (std::size_t at = from; at < sql.size(); ++at) {
    if (sql[at] == mark) return at + 1;
    if (sql[at] == '\\') ++at;
  }
  return sql.size();
}

/// The words and signs of a command in capitals; of quoted text no more than that it is there.
class Words {
 public:
  /// What one database takes for the end of a text and another does not: anything may follow.
  static constexpr std::string_view kUnclear = "\\";

  explicit Words(std::string_view sql) : sql_(sql) {}

  /// Empty at the end.
  std::string next() {
    while (!sql_.empty()) {
      // MySQL executes what stands in such a comment.
      if (sql_.starts_with("/*!") || sql_.starts_with("/*M!")) return take(3);
      if (const std::size_t length = quoted_length(sql_)) {
        const std::string_view quoted = sql_.substr(0, length);
        sql_.remove_prefix(length);
        if (quoted.front() == '-' || quoted.front() == '/') continue;
        const bool escapes = quoted.front() == 'E' || quoted.front() == 'e';
        if (!escapes && quoted.find('\\') != std::string_view::npos) return std::string(kUnclear);
        if (quoted.front() == '"' || quoted.front() == '`') return name_in(quoted);
        return "''";
      }
      if (!is_space(sql_.front())) return take(std::max<std::size_t>(word_length(sql_), 1));
      sql_.remove_prefix(1);
    }
    return {};
  }

 private:
  std::string take(std::size_t length) {
    FERMATA_ASSERT(0 < length && length <= sql_.size());
    std::string word = capitals(sql_.substr(0, length));
    sql_.remove_prefix(length);
    return word == "#" ? std::string(kUnclear) : word;  // A comment, or an operator.
  }

  /// Never empty, which would be the end.
  static std::string name_in(std::string_view quoted) {
    quoted.remove_prefix(1);
    return capitals(quoted.substr(0, quoted.find_last_of("\"`"))) + ' ';
  }

  static std::string capitals(std::string_view text) {
    std::string word(text);
    for (char& c : word) {
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    return word;
  }

  std::string_view sql_;
};

template <std::size_t N>
bool one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// What a command may begin with and leave no trace in the session.
constexpr std::array<std::string_view, 22> kHarmless = {
    "SELECT",    "INSERT",  "UPDATE", "DELETE",   "MERGE",  "REPLACE",  "VALUES", "WITH",
    "TABLE",     "BEGIN",   "START",  "COMMIT",   "END",    "ROLLBACK", "ABORT",  "RELEASE",
    "SAVEPOINT", "EXPLAIN", "SHOW",   "TRUNCATE", "CREATE", "DROP"};

// What makes a harmless beginning harmful, wherever it stands.
constexpr std::array<std::string_view, 12> kHarmful = {
    "TEMP",   "TEMPORARY", "SET_CONFIG", "GET_LOCK",          "RELEASE_LOCK",   "NEXTVAL",
    "SETVAL", "SETSEED",   "LOCK",       "RELEASE_ALL_LOCKS", "LAST_INSERT_ID", "LOAD_EXTENSION"};

bool is_harmful(std::string_view word) {
  if (word.ends_with(' ')) word.remove_suffix(1);
  return word.starts_with("/*") || word == "@" || word == Words::kUnclear ||
         word.starts_with("PG_ADVISORY_") || word.starts_with("PG_TRY_ADVISORY_") ||
         word.starts_with("DBLINK_") || one_of(word, kHarmful);
}

}  // namespace

std::size_t quoted_length(std::string_view sql, SqlDialect dialect) noexcept {
  if (sql.empty()) return 0;
  const bool mysql = dialect == SqlDialect::MySql;
  const char first = sql.front();
  if (mysql && (first == '\'' || first == '"')) return through_unescaped(sql, first, 1);
  if (first == '\'' || first == '"' || first == '`') return through(sql, sql.substr(0, 1), 1);
  if (sql.starts_with("--") && (!mysql || sql.size() == 2 || sql[2] <= ' ')) {
    return through(sql, "\n", 2);
  }
  if (mysql && first == '#') return through(sql, "\n", 1);
  if (sql.starts_with("/*")) return through(sql, "*/", 2);
  // PostgreSQL's: E'it\'s', $tag$ ... $tag$.
  if (mysql) return 0;
  if (sql.starts_with("E'") || sql.starts_with("e'")) return through_unescaped(sql, '\'', 2);
  if (first != '$') return 0;
  std::size_t tag = 1;
  while (tag < sql.size() && (tag == 1 ? is_letter(sql[tag]) : is_word(sql[tag]))) ++tag;
  if (tag == sql.size() || sql[tag] != '$') return 0;
  return through(sql, sql.substr(0, tag + 1), tag + 1);
}

std::size_t word_length(std::string_view sql) noexcept {
  if (sql.empty() || !is_letter(sql.front())) return 0;
  std::size_t length = 1;
  while (length < sql.size() && (is_word(sql[length]) || sql[length] == '$')) ++length;
  return length;
}

bool may_change_session(std::string_view sql) {
  Words words(sql);
  std::string word = words.next();
  if (!one_of(word, kHarmless)) return !word.empty();
  while (!(word = words.next()).empty()) {
    if (word == ";") return !words.next().empty();
    if (is_harmful(word)) return true;
  }
  return false;
}

}  // namespace fermata::db
