// SPDX-License-Identifier: Apache-2.0
#include "fermata/db/mariadb/text_answer.hpp"

#include "fermata/base/assert.hpp"

namespace fermata::db::mariadb {

TextAnswer::TextAnswer(Link& link, Fetch fetch)
    : link_(link),
      stored_(fetch == Fetch::All ? link.store() : nullptr),
      rows_(fetch == Fetch::All ? stored_.get() : link.use()),
      columns_(rows_) {
  if (rows_ == nullptr || fetch == Fetch::All) end();
}

// Its effect is known once the last row was read.
void TextAnswer::end() {
  if (stored_ == nullptr) rows_ = nullptr;
  link_.end_rows();
  if (columns_.size() == 0) effect_ = effect_of(link_.get(), nullptr);
  link_.skip_results();
}

MYSQL_ROW TextAnswer::fetch() {
  if (stored_ != nullptr) return mysql_fetch_row(rows_);
  MYSQL_RES* const rows = rows_;
  return link_.drive<MYSQL_ROW>(
      [rows](MYSQL_ROW* result) { return mysql_fetch_row_start(result, rows); },
      [rows](MYSQL_ROW* result, int status) { return mysql_fetch_row_cont(result, rows, status); });
}

bool TextAnswer::next(std::vector<Cell>& row) {
  read_ = rows_ == nullptr;
  if (read_) return false;
  const MYSQL_ROW values = fetch();
  if (values == nullptr) {
    if (stored_ == nullptr) {
      MYSQL_RES* const rows = rows_;
      const bool failed = mysql_errno(link_.get()) != 0;
      link_.end_rows();
      rows_ = nullptr;
      mysql_free_result(rows);  // All rows have been read: nothing to wait for.
      if (failed) link_.fail();
      end();
    }
    read_ = true;
    return false;
  }
  const unsigned long* const lengths = mysql_fetch_lengths(rows_);
  row.resize(columns_.size());
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (values[i] == nullptr) {
      row[i] = Null();
    } else {
      row[i] = columns_.cell(i, {values[i], lengths[i]});
    }
  }
  return true;
}

const Effect& TextAnswer::effect() const noexcept {
  FERMATA_ASSERT(read_);
  return effect_;
}

Effect effect_of(MYSQL* connection, MYSQL_STMT* statement) {
  Effect effect;
  const auto rows =
      statement != nullptr ? mysql_stmt_affected_rows(statement) : mysql_affected_rows(connection);
  if (rows != ~my_ulonglong{0}) effect.affected_rows = rows;
  const auto id =
      statement != nullptr ? mysql_stmt_insert_id(statement) : mysql_insert_id(connection);
  if (id != 0) effect.last_insert_id = static_cast<std::int64_t>(id);
  return effect;
}

}  // namespace fermata::db::mariadb
