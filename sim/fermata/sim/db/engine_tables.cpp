// SPDX-License-Identifier: Apache-2.0

// What the commands about tables do.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "fermata/sim/db/engine.hpp"
#include "fermata/sim/db/evaluate.hpp"
#include "fermata/sim/db/sql_error.hpp"

namespace fermata::sim::sql {

namespace {

[[noreturn]] void taken_by_another() {
  throw SqlError("40001", "could not serialize access due to a concurrent update");
}

bool is_aggregate(const SelectItem& item) {
  return item.expression.kind == Expression::Kind::Call &&
         (item.expression.name == "count" || item.expression.name == "sum");
}

Expression column_equals(const std::string& column, const db::Value& value) {
  Expression equal;
  equal.kind = Expression::Kind::Operation;
  equal.operation = Operator::Equal;
  equal.operands.resize(2);
  equal.operands[0].kind = Expression::Kind::Column;
  equal.operands[0].name = column;
  equal.operands[1].literal = value;
  return equal;
}

void check_condition(const std::optional<Expression>& where, const Table& table) {
  if (where) check_names(*where, &table);
}

/// No two columns of one name.
void require_distinct(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) {
    throw SqlError("42701", fmt::format("column \"{}\" specified more than once", *twice));
  }
}

}  // namespace

Catalogue& Session::catalogue_of(std::string_view name) noexcept {
  const auto found = temporary_.find(name);
  const bool temporary = found != temporary_.end() && found->second.seen_by(id_) != nullptr;
  return temporary ? temporary_ : database_->tables_;
}

std::shared_ptr<Table> Session::find_table(std::string_view name, bool strictly) {
  Catalogue& catalogue = catalogue_of(name);
  const auto found = catalogue.find(name);
  if (found == catalogue.end()) return nullptr;
  if (strictly && found->second.written_by_another_than(id_)) taken_by_another();
  return found->second.seen_by(id_);
}

std::shared_ptr<Table> Session::table(std::string_view name, bool strictly) {
  std::shared_ptr<Table> found = find_table(name, strictly);
  if (found == nullptr) {
    throw SqlError("42P01", fmt::format("relation \"{}\" does not exist", name));
  }
  return found;
}

std::vector<Session::Found> Session::find_rows(const std::shared_ptr<Table>& table,
                                               const std::optional<Expression>& where,
                                               const Call& call) {
  const auto meant = [&](const std::optional<Row>& row) {
    return row &&
           holds(
               where,
               {.parameters = call.parameters, .session = id_, .table = table.get(), .row = &*row});
  };
  std::vector<Found> found;
  for (const auto& [number, row] : table->rows) {
    if (call.reads_strictly && row.written_by_another_than(id_)) {
      if (meant(row.committed) || meant(row.pending)) taken_by_another();
      continue;
    }
    const std::optional<Row>& seen = row.seen_by(id_);
    if (meant(seen)) found.push_back({number, &*seen});
  }
  note_read(table, where, call.parameters);
  return found;
}

void Session::require_free_key(const std::shared_ptr<Table>& table, const Row& row,
                               std::optional<std::uint64_t> itself) {
  if (!table->key) return;
  const std::size_t key = *table->key;
  note_read(table, column_equals(table->columns[key].name, row[key]), {});
  const auto has_it = [&](const std::optional<Row>& each) {
    return each && are_equal((*each)[key], row[key]);
  };
  for (const auto& [number, each] : table->rows) {
    if (each.written_by_another_than(id_)) {
      if (has_it(each.committed) || has_it(each.pending)) taken_by_another();
    } else if (number != itself && has_it(each.seen_by(id_))) {
      throw SqlError(
          "23505",
          fmt::format("duplicate key value violates unique constraint \"{}_pkey\"", table->name));
    }
  }
}

void Session::require_no_missing(const Table& table, const Row& row) const {
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (table.columns[i].not_null && std::holds_alternative<db::Null>(row[i])) {
      throw SqlError("23502",
                     fmt::format("null value in column \"{}\" violates not-null constraint",
                                 table.columns[i].name));
    }
  }
}

Result Session::create(const CreateTable& create) {
  Catalogue& catalogue = create.temporary ? temporary_ : database_->tables_;
  const auto found = catalogue.find(create.table);
  if (found != catalogue.end()) {
    if (found->second.written_by_another_than(id_)) taken_by_another();
    if (found->second.seen_by(id_) != nullptr) {
      if (create.if_not_exists) return {};
      throw SqlError("42P07", fmt::format("relation \"{}\" already exists", create.table));
    }
  }
  std::vector<std::string> names;
  for (const ColumnDefinition& column : create.columns) names.push_back(column.name);
  require_distinct(std::move(names));
  auto made = std::make_shared<Table>();
  made->id = ++database_->tables_made_;
  made->name = create.table;
  made->columns = create.columns;
  made->key = create.key;
  write_table(catalogue, create.table, std::move(made));
  return {};
}

Result Session::drop(const DropTable& drop) {
  const std::shared_ptr<Table> gone = find_table(drop.table, true);
  if (gone == nullptr) {
    if (drop.if_exists) return {};
    throw SqlError("42P01", fmt::format("table \"{}\" does not exist", drop.table));
  }
  for (const auto& [number, row] : gone->rows) {
    if (row.written_by_another_than(id_)) taken_by_another();
  }
  write_table(catalogue_of(drop.table), drop.table, nullptr);
  return {};
}

Result Session::insert(const Insert& insert, const Call& call) {
  const std::shared_ptr<Table> into = table(insert.table);
  require_distinct(insert.columns);
  std::vector<std::size_t> places;
  for (const std::string& name : insert.columns) places.push_back(into->column(name));
  if (places.empty()) {
    for (std::size_t i = 0; i < into->columns.size(); ++i) places.push_back(i);
  }
  for (const std::vector<Expression>& values : insert.rows) {
    const bool fits =
        insert.columns.empty() ? values.size() <= places.size() : values.size() == places.size();
    if (!fits) {
      throw SqlError("42601", fmt::format("INSERT has {} expressions for {} columns", values.size(),
                                          places.size()));
    }
    Row row(into->columns.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      row[places[i]] = evaluate(values[i], {call.parameters, id_});
    }
    require_no_missing(*into, row);
    require_free_key(into, row, std::nullopt);
    write_row(into, ++into->rows_made, std::move(row));
  }
  return {{}, {}, insert.rows.size()};
}

Result Session::select(const Select& select, const Call& call) {
  Result result;
  for (const SelectItem& item : select.items) result.columns.push_back(item.name);
  const Surroundings nowhere{call.parameters, id_};
  if (select.table.empty()) {
    Row row;
    for (const SelectItem& item : select.items) row.push_back(evaluate(item.expression, nowhere));
    result.rows.push_back(std::move(row));
    return result;
  }

  const std::shared_ptr<Table> from = table(select.table, call.reads_strictly);
  const bool aggregates = std::any_of(select.items.begin(), select.items.end(), is_aggregate);
  for (const SelectItem& item : select.items) {
    if (!is_aggregate(item)) check_names(item.expression, aggregates ? nullptr : from.get());
    if (is_aggregate(item)) {
      for (const Expression& operand : item.expression.operands) check_names(operand, from.get());
    }
  }
  check_condition(select.where, *from);
  std::vector<Found> found = find_rows(from, select.where, call);

  if (!select.order_by.empty()) {
    const std::size_t column = from->column(select.order_by);
    std::stable_sort(found.begin(), found.end(), [&](const Found& left, const Found& right) {
      const db::Value& a = (*left.row)[column];
      const db::Value& b = (*right.row)[column];
      const std::optional<int> order = compare(a, b);
      // NULL is larger than everything.
      const int known = order ? *order : (a.index() == 0 ? 1 : 0) - (b.index() == 0 ? 1 : 0);
      return select.descending ? known > 0 : known < 0;
    });
  }
  std::optional<std::size_t> limit;
  if (select.limit) {
    const db::Value most = evaluate(*select.limit, nowhere);
    if (!std::holds_alternative<db::Null>(most)) {
      const auto* const rows = std::get_if<std::int64_t>(&most);
      if (rows == nullptr) throw SqlError("42804", "LIMIT must be an integer");
      if (*rows < 0) throw SqlError("2201W", "LIMIT must not be negative");
      limit = static_cast<std::size_t>(*rows);
    }
  }

  if (aggregates) {
    Row row;
    for (const SelectItem& item : select.items) {
      if (!is_aggregate(item)) {
        row.push_back(evaluate(item.expression, nowhere));
      } else if (item.expression.name == "count") {
        row.emplace_back(static_cast<std::int64_t>(found.size()));
      } else {
        if (item.expression.operands.size() != 1) throw SqlError("42883", "sum takes one argument");
        db::Value sum;
        for (const Found& each : found) {
          const db::Value part =
              evaluate(item.expression.operands[0], {.parameters = call.parameters,
                                                     .session = id_,
                                                     .table = from.get(),
                                                     .row = each.row});
          if (part.index() == 0) continue;
          sum = add(sum.index() == 0 ? db::Value(std::int64_t{0}) : sum, part);
        }
        row.push_back(std::move(sum));
      }
    }
    if (limit != 0) result.rows.push_back(std::move(row));
    return result;
  }

  if (select.items.empty()) {
    for (const ColumnDefinition& column : from->columns) result.columns.push_back(column.name);
  }
  if (limit) found.resize(std::min(found.size(), *limit), Found{});
  for (const Found& each : found) {
    if (select.items.empty()) {
      result.rows.push_back(*each.row);
      continue;
    }
    Row row;
    for (const SelectItem& item : select.items) {
      row.push_back(evaluate(
          item.expression,
          {.parameters = call.parameters, .session = id_, .table = from.get(), .row = each.row}));
    }
    result.rows.push_back(std::move(row));
  }
  return result;
}

Result Session::update(const Update& update, const Call& call) {
  const std::shared_ptr<Table> changed = table(update.table);
  std::vector<std::string> names;
  std::vector<std::size_t> places;
  for (const auto& [name, value] : update.changes) {
    names.push_back(name);
    places.push_back(changed->column(name));
    check_names(value, changed.get());
  }
  require_distinct(std::move(names));
  check_condition(update.where, *changed);
  const std::vector<Found> found = find_rows(changed, update.where, call);
  const bool changes_key =
      changed->key && std::find(places.begin(), places.end(), *changed->key) != places.end();
  for (const Found& each : found) {
    Row row = *each.row;
    for (std::size_t i = 0; i < places.size(); ++i) {
      row[places[i]] = evaluate(
          update.changes[i].second,
          {.parameters = call.parameters, .session = id_, .table = changed.get(), .row = each.row});
    }
    require_no_missing(*changed, row);
    if (changes_key) require_free_key(changed, row, each.number);
    write_row(changed, each.number, std::move(row));
  }
  return {{}, {}, found.size()};
}

Result Session::remove(const Delete& remove, const Call& call) {
  const std::shared_ptr<Table> from = table(remove.table);
  check_condition(remove.where, *from);
  const std::vector<Found> found = find_rows(from, remove.where, call);
  for (const Found& each : found) write_row(from, each.number, std::nullopt);
  return {{}, {}, found.size()};
}

}  // namespace fermata::sim::sql
