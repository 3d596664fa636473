// SPDX-License-Identifier: Apache-2.0
#include "fermata/db/postgresql/answer.hpp"

#include <charconv>
#include <string_view>
#include <utility>

#include "fermata/base/assert.hpp"

namespace fermata::db::postgresql {

namespace {

Effect effect_of(PGresult& result) {
  Effect effect;
  const std::string_view command = PQcmdStatus(&result);
  for (const std::string_view changes : {"INSERT", "UPDATE", "DELETE", "MERGE"}) {
    if (!command.starts_with(changes)) continue;
    const std::string_view rows = PQcmdTuples(&result);
    std::from_chars(rows.data(), rows.data() + rows.size(), effect.affected_rows);
  }
  return effect;
}

}  // namespace

LibpqAnswer::LibpqAnswer(Link& link, Fetch fetch)
    : link_(link), result_(first(fetch)), decoder_(*result_) {
  keep(std::move(result_));
}

void LibpqAnswer::keep(ResultHandle result) {
  FERMATA_ASSERT(result != nullptr);
  result_ = std::move(result);
  row_ = 0;
  rows_ = PQntuples(result_.get());
  one_by_one_ = PQresultStatus(result_.get()) == PGRES_SINGLE_TUPLE;
  if (!one_by_one_) effect_ = effect_of(*result_);
}

ResultHandle LibpqAnswer::first(Fetch fetch) {
  if (fetch == Fetch::All) return link_.only_result();
  ResultHandle result = link_.next_result();
  if (PQresultStatus(result.get()) == PGRES_SINGLE_TUPLE) return result;
  link_.end(*result);
  return result;
}

// Rows come one by one, and then a result without rows, or an error.
void LibpqAnswer::fetch_row() {
  keep(link_.next_result());
  if (!one_by_one_) link_.end(*result_);
}

bool LibpqAnswer::next(std::vector<Cell>& row) {
  FERMATA_ASSERT(row_ <= rows_);
  if (row_ == rows_ && one_by_one_) fetch_row();
  if (row_ == rows_) return false;
  decoder_.decode(*result_, row_++, row);
  return true;
}

const Effect& LibpqAnswer::effect() const noexcept {
  FERMATA_ASSERT(row_ == rows_ && !one_by_one_);
  return effect_;
}

}  // namespace fermata::db::postgresql
