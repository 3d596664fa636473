// SPDX-License-Identifier: Apache-2.0
#include "fermata/db/mariadb/prepared.hpp"

#include <fmt/format.h>

#include <new>

#include "fermata/base/assert.hpp"
#include "fermata/db/mariadb/text_answer.hpp"

namespace fermata::db::mariadb {

namespace {

constexpr std::size_t kPacketOverhead = 1'024;

}  // namespace

/// The rows of a prepared command. Text and bytes are fetched once their lengths are known.
class PreparedCommand::Rows final : public Answer {
 public:
  Rows(Link& link, MYSQL_STMT* statement, Fetch fetch) : link_(link), statement_(statement) {
    MYSQL_RES* const described = mysql_stmt_result_metadata(statement_);
    columns_ = Columns(described);
    if (described != nullptr) mysql_free_result(described);
    if (columns_.size() == 0) {
      end();
    } else {
      bind();
      if (fetch == Fetch::All) store();
    }
  }

  [[nodiscard]] const std::vector<std::string>& columns() const noexcept override {
    return columns_.names();
  }

  bool next(std::vector<Cell>& row) override {
    if (ended_) return false;
    MYSQL_STMT* const statement = statement_;
    const int result =
        link_.drive<int>([statement](int* code) { return mysql_stmt_fetch_start(code, statement); },
                         [statement](int* code, int status) {
                           return mysql_stmt_fetch_cont(code, statement, status);
                         });
    if (result == 1) link_.fail(statement_);
    if (result == MYSQL_NO_DATA) {
      end();
      return false;
    }
    row.resize(columns_.size());
    for (unsigned i = 0; i < row.size(); ++i) row[i] = cell(i);
    return true;
  }

  [[nodiscard]] const Effect& effect() const noexcept override {
    FERMATA_ASSERT(ended_);
    return effect_;
  }

 private:
  struct Field {
    union {
      long long integer;
      double number;
    };
    std::string text;
    unsigned long length = 0;
    my_bool is_null = 0;
  };

  void bind() {
    fields_.resize(columns_.size());
    binds_.resize(columns_.size());
    for (std::size_t i = 0; i < binds_.size(); ++i) {
      MYSQL_BIND& bind = binds_[i];
      bind = {};
      bind.length = &fields_[i].length;
      bind.is_null = &fields_[i].is_null;
      bind.buffer_type = MYSQL_TYPE_STRING;
      if (columns_.kind(i) == ColumnKind::Number) {
        bind.buffer_type = MYSQL_TYPE_DOUBLE;
        bind.buffer = &fields_[i].number;
        bind.buffer_length = sizeof fields_[i].number;
      }
    }
    if (mysql_stmt_bind_result(statement_, binds_.data()) != 0) link_.fail(statement_);
  }

  void store() {
    MYSQL_STMT* const statement = statement_;
    const int error = link_.drive<int>(
        [statement](int* code) { return mysql_stmt_store_result_start(code, statement); },
        [statement](int* code, int status) {
          return mysql_stmt_store_result_cont(code, statement, status);
        });
    if (error != 0) link_.fail(statement_);
    link_.run(nullptr);
  }

  Cell cell(unsigned column) {
    Field& field = fields_[column];
    if (field.is_null != 0) return Null();
    if (columns_.kind(column) == ColumnKind::Number) return field.number;
    field.text.resize(field.length);
    MYSQL_BIND bind = {};
    unsigned long length = 0;
    bind.buffer_type = MYSQL_TYPE_STRING;
    bind.buffer = field.text.data();
    bind.buffer_length = field.text.size();
    bind.length = &length;
    if (!field.text.empty()) mysql_stmt_fetch_column(statement_, &bind, column, 0);
    return columns_.cell(column, field.text);
  }

  void end() {
    ended_ = true;
    if (columns_.size() == 0) effect_ = effect_of(link_.get(), statement_);
    mysql_stmt_free_result(statement_);  // All rows have been read: nothing to wait for.
    link_.run(nullptr);
    link_.skip_results();
  }

  Link& link_;
  MYSQL_STMT* statement_;
  Columns columns_{nullptr};
  std::vector<Field> fields_;
  std::vector<MYSQL_BIND> binds_;
  bool ended_ = false;
  Effect effect_;
};

PreparedCommand::PreparedCommand(Link& link, std::string_view sql, std::size_t packet_max)
    : link_(link),
      placeholders_(replace_placeholders(sql, PlaceholderStyle::Positional, SqlDialect::MySql)),
      packet_max_(packet_max) {
  link_.close_forgotten();
  statement_ = mysql_stmt_init(link_.get());
  if (statement_ == nullptr) throw std::bad_alloc();
  const auto text = std::make_shared<std::string>(placeholders_.sql);
  link_.keep(text);
  MYSQL_STMT* const statement = statement_;
  int error = 0;
  try {
    error = link_.drive<int>(
        [&](int* code) {
          return mysql_stmt_prepare_start(code, statement, text->data(), text->size());
        },
        [statement](int* code, int status) {
          return mysql_stmt_prepare_cont(code, statement, status);
        });
    if (error != 0) link_.fail(statement_);
  } catch (...) {
    link_.forget(statement_);
    throw;
  }
}

PreparedCommand::~PreparedCommand() { link_.forget(statement_); }

std::unique_ptr<Answer> PreparedCommand::execute(Parameters parameters, Fetch fetch) {
  require_parameters(link_.database(), {}, parameters.size(), placeholders_.count);
  const auto arguments = std::make_shared<Arguments>(parameters, placeholders_.order);
  if (arguments->size() + kPacketOverhead > packet_max_) {
    throw ParameterError(link_.database(), sqlstate::kBadParameters,
                         fmt::format("parameters of {} bytes: expected less than {}, "
                                     "max_allowed_packet of the server",
                                     arguments->size(), packet_max_));
  }
  link_.keep(arguments);
  if (!placeholders_.order.empty() && mysql_stmt_bind_param(statement_, arguments->binds()) != 0) {
    link_.fail(statement_);
  }
  MYSQL_STMT* const statement = statement_;
  link_.run(statement);
  const int error =
      link_.drive<int>([statement](int* code) { return mysql_stmt_execute_start(code, statement); },
                       [statement](int* code, int status) {
                         return mysql_stmt_execute_cont(code, statement, status);
                       });
  if (error == 0) return std::make_unique<Rows>(link_, statement_, fetch);
  try {
    link_.fail(statement_);
  } catch (const QueryError&) {
    link_.drain();  // Rows have come all the same when they are others than those prepared for.
    throw;
  }
}

void require_parameters(const std::string& database, std::string_view sql, std::size_t given,
                        std::size_t expected) {
  if (sql.find('\0') != std::string_view::npos) {
    throw ParameterError(database, sqlstate::kBadParameters,
                         "a command with a NUL: expected text without");
  }
  if (given == expected) return;
  throw ParameterError(database, sqlstate::kBadParameters,
                       fmt::format("{} parameters: expected {}", given, expected));
}

}  // namespace fermata::db::mariadb
