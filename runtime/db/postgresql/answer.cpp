// SPDX-License-Identifier: Apache-2.0
#include "fermata/runtime/db/postgresql/answer.hpp"

#include <charconv>
#include <string_view>

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
  if (PQresultStatus(result_.get()) != PGRES_SINGLE_TUPLE) effect_ = effect_of(*result_);
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
  row_ = 0;
  result_ = link_.next_result();
  if (PQresultStatus(result_.get()) == PGRES_SINGLE_TUPLE) return;
  link_.end(*result_);
  effect_ = effect_of(*result_);
}

bool LibpqAnswer::next(std::vector<Cell>& row) {
  if (row_ == PQntuples(result_.get()) && PQresultStatus(result_.get()) == PGRES_SINGLE_TUPLE) {
    fetch_row();
  }
  if (row_ == PQntuples(result_.get())) return false;
  decoder_.decode(*result_, row_++, row);
  return true;
}

}  // namespace fermata::db::postgresql
