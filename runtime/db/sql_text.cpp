// SPDX-License-Identifier: Apache-2.0
#include "fermata/runtime/db/sql_text.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace fermata::db {

namespace {

std::size_t through(std::string_view sql, std::string_view mark, std::size_t from) noexcept {
  const std::size_t found = sql.find(mark, from);
  return found == std::string_view::npos ? sql.size() : found + mark.size();
}

bool is_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_word(char c) noexcept { return is_letter(c) || (c >= '0' && c <= '9'); }
bool is_space(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// The words and signs of a command in capitals, without what is quoted.
class Words {
 public:
  explicit Words(std::string_view sql) : sql_(sql) {}

  /// Empty at the end.
  std::string next() {
    while (!sql_.empty()) {
      // MySQL executes what stands in such a comment.
      if (sql_.starts_with("/*!") || sql_.starts_with("/*M!")) return take(3);
      if (const std::size_t quoted = quoted_length(sql_)) {
        const bool comment = sql_.front() == '-' || sql_.front() == '/';
        sql_.remove_prefix(quoted);
        if (!comment) return "''";
      } else if (is_space(sql_.front())) {
        sql_.remove_prefix(1);
      } else {
        std::size_t length = 0;
        while (length < sql_.size() && is_word(sql_[length])) ++length;
        return take(std::max<std::size_t>(length, 1));
      }
    }
    return {};
  }

 private:
  std::string take(std::size_t length) {
    std::string word(sql_.substr(0, length));
    sql_.remove_prefix(length);
    for (char& c : word) {
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    return word;
  }

  std::string_view sql_;
};

template <std::size_t N>
bool one_of(const std::string& word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// What a command may begin with and leave no trace in the session.
constexpr std::array<std::string_view, 22> kHarmless = {
    "SELECT",    "INSERT",  "UPDATE", "DELETE",   "MERGE",  "REPLACE",  "VALUES", "WITH",
    "TABLE",     "BEGIN",   "START",  "COMMIT",   "END",    "ROLLBACK", "ABORT",  "RELEASE",
    "SAVEPOINT", "EXPLAIN", "SHOW",   "TRUNCATE", "CREATE", "DROP"};

// What makes a harmless beginning harmful, wherever it stands.
constexpr std::array<std::string_view, 16> kHarmful = {"TEMP",
                                                       "TEMPORARY",
                                                       "SET_CONFIG",
                                                       "GET_LOCK",
                                                       "RELEASE_LOCK",
                                                       "NEXTVAL",
                                                       "SETVAL",
                                                       "SETSEED",
                                                       "LOCK",
                                                       "RELEASE_ALL_LOCKS",
                                                       "LAST_INSERT_ID",
                                                       "LOAD_EXTENSION",
                                                       "DBLINK_CONNECT",
                                                       "PG_ADVISORY_LOCK",
                                                       "PG_TRY_ADVISORY_LOCK",
                                                       "PG_ADVISORY_LOCK_SHARED"};

}  // namespace

std::size_t quoted_length(std::string_view sql) noexcept {
  if (sql.empty()) return 0;
  const char first = sql.front();
  if (first == '\'' || first == '"' || first == '`') return through(sql, sql.substr(0, 1), 1);
  if (sql.starts_with("--")) return through(sql, "\n", 2);
  if (sql.starts_with("/*")) return through(sql, "*/", 2);
  if (first != '$') return 0;
  std::size_t tag = 1;  // $tag$ ... $tag$
  while (tag < sql.size() && (tag == 1 ? is_letter(sql[tag]) : is_word(sql[tag]))) ++tag;
  if (tag == sql.size() || sql[tag] != '$') return 0;
  return through(sql, sql.substr(0, tag + 1), tag + 1);
}

bool may_change_session(std::string_view sql) {
  Words words(sql);
  std::string word = words.next();
  if (!one_of(word, kHarmless)) return !word.empty();
  while (!(word = words.next()).empty()) {
    if (word == ";") return !words.next().empty();
    if (word.starts_with("/*") || word == "@" || one_of(word, kHarmful)) return true;
  }
  return false;
}

}  // namespace fermata::db
