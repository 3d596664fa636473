// SPDX-License-Identifier: Apache-2.0
#include "fermata/db/odbc/transaction_words.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "fermata/db/sql_text.hpp"

namespace fermata::db::odbc {

namespace {

bool in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// The number of words that matter.
constexpr std::size_t kWords = 5;

/// The first words of the command that `sql` begins with, in capitals; takes the command away.
std::vector<std::string> take_command(std::string_view& sql) {
  std::vector<std::string> words;
  while (!sql.empty()) {
    if (const std::size_t quoted = quoted_length(sql)) {
      const bool comment = sql.front() == '-' || sql.front() == '/';
      if (!comment && words.size() < kWords) words.emplace_back("''");
      sql.remove_prefix(quoted);
      continue;
    }
    const char first = sql.front();
    std::size_t length = 0;
    while (length < sql.size() && in_word(sql[length])) ++length;
    const bool space = first == ' ' || (first >= '\t' && first <= '\r');
    if (!space && first != ';' && words.size() < kWords) {
      std::string word(sql.substr(0, std::max<std::size_t>(length, 1)));
      for (char& c : word) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
      words.push_back(std::move(word));
    }
    sql.remove_prefix(std::max<std::size_t>(length, 1));
    if (first == ';') break;
  }
  return words;
}

template <std::size_t N>
bool any_of(const std::string& word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// After BEGIN; another word makes it a block of statements.
constexpr std::array<std::string_view, 11> kAfterBegin = {
    "",          "TRANSACTION", "TRAN",      "WORK", "DEFERRED", "IMMEDIATE",
    "EXCLUSIVE", "CONCURRENT",  "ISOLATION", "READ", "NOT"};

TransactionWords words_of(std::vector<std::string> words) {
  words.resize(kWords);
  TransactionWords result;
  const std::string& first = words[0];
  if ((first == "BEGIN" && any_of(words[1], kAfterBegin)) ||
      (first == "START" && words[1] == "TRANSACTION")) {
    result.step = TransactionStep::Begin;
    return result;
  }
  const bool commits = first == "COMMIT" || first == "END";
  if (!commits && first != "ROLLBACK" && first != "ABORT") return result;
  std::size_t at = 1;
  if (words[at] == "WORK" || words[at] == "TRANSACTION" || words[at] == "TRAN") ++at;
  const bool no_chain = words[at] == "AND" && words[at + 1] == "NO";
  if (words[at].empty() || no_chain) {
    result.step = commits ? TransactionStep::Commit : TransactionStep::Rollback;
  }
  result.returns_to_savepoint = !commits && words[at] == "TO";
  return result;
}

}  // namespace

TransactionWords transaction_words(std::string_view sql) {
  TransactionWords result;
  std::size_t commands = 0;
  while (!sql.empty()) {
    std::vector<std::string> words = take_command(sql);
    if (words.empty()) continue;
    ++commands;
    const TransactionWords found = words_of(std::move(words));
    if (found.step != TransactionStep::None) result.step = found.step;
    result.returns_to_savepoint = found.returns_to_savepoint;
  }
  result.alone = commands <= 1;
  return result;
}

bool changes_rows(std::string_view sql) {
  static constexpr std::array<std::string_view, 5> kChanges = {"INSERT", "UPDATE", "DELETE",
                                                               "MERGE", "REPLACE"};
  const std::vector<std::string> words = take_command(sql);
  return !words.empty() && any_of(words.front(), kChanges);
}

}  // namespace fermata::db::odbc
