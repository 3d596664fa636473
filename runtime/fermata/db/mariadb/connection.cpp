// SPDX-License-Identifier: Apache-2.0
#include "fermata/db/mariadb/connection.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/db/mariadb/prepared.hpp"
#include "fermata/db/mariadb/text_answer.hpp"

namespace fermata::db::mariadb {

namespace {

constexpr Duration kInterruptLimit = std::chrono::seconds(5);
constexpr Duration kKillInterval = std::chrono::milliseconds(100);

/// An answer that keeps the command it comes from.
class AnswerOfCommand final : public Answer {
 public:
  AnswerOfCommand(std::unique_ptr<PreparedCommand> command, Parameters parameters, Fetch fetch)
      : command_(std::move(command)), rows_(command_->execute(parameters, fetch)) {}
  [[nodiscard]] const std::vector<std::string>& columns() const noexcept override {
    return rows_->columns();
  }
  bool next(std::vector<Cell>& row) override { return rows_->next(row); }
  [[nodiscard]] const Effect& effect() const noexcept override { return rows_->effect(); }

 private:
  std::unique_ptr<PreparedCommand> command_;
  std::unique_ptr<Answer> rows_;
};

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

MariaConnection::MariaConnection(std::unique_ptr<Link> link, Connect connect, std::string schema)
    : link_(std::move(link)), connect_(std::move(connect)), schema_(std::move(schema)) {
  const auto answer = execute("SELECT @@max_allowed_packet", {}, Fetch::All);
  std::vector<Cell> row;
  if (answer->next(row)) packet_max_ = static_cast<std::size_t>(std::get<std::int64_t>(row[0]));
}

std::unique_ptr<Answer> MariaConnection::execute(std::string_view sql, Parameters parameters,
                                                 Fetch fetch) {
  const Placeholders placeholders =
      replace_placeholders(sql, PlaceholderStyle::Positional, SqlDialect::MySql);
  require_parameters(link_->database(), sql, parameters.size(), placeholders.count);
  if (packet_max_ > 0 && sql.size() + 1 >= packet_max_) {
    throw ParameterError(
        link_->database(), sqlstate::kBadParameters,
        fmt::format("a command of {} bytes: expected less than {}", sql.size(), packet_max_));
  }
  if (!parameters.empty()) {
    return std::make_unique<AnswerOfCommand>(
        std::make_unique<PreparedCommand>(*link_, sql, packet_max_), parameters, fetch);
  }
  link_->ask(std::string(sql));
  return std::make_unique<TextAnswer>(*link_, fetch);
}

std::unique_ptr<Prepared> MariaConnection::prepare(std::string_view sql) {
  const std::size_t count =
      replace_placeholders(sql, PlaceholderStyle::Positional, SqlDialect::MySql).count;
  require_parameters(link_->database(), sql, count, count);
  return std::make_unique<PreparedCommand>(*link_, sql, packet_max_);
}

// 1243 and 1615 have HY000, which others have too: a command that fails with it for another reason
// fails again.
bool MariaConnection::is_stale_plan(std::string_view sqlstate) const noexcept {
  return sqlstate == "HY000";
}

TransactionState MariaConnection::transaction() const noexcept {
  if (link_->is_broken()) return TransactionState::Unknown;
  unsigned status = 0;
  mariadb_get_infov(link_->get(), MARIADB_CONNECTION_SERVER_STATUS, &status);
  return (status & SERVER_STATUS_IN_TRANS) != 0 ? TransactionState::Open : TransactionState::None;
}

// A server that says something unasked says that it goes.
bool MariaConnection::looks_alive() noexcept {
  pollfd socket = {mysql_get_socket(link_->get()), POLLIN | POLLRDHUP, 0};
  return !link_->is_broken() && ::poll(&socket, 1, 0) == 0;
}

void MariaConnection::reset_session() {
  Link& link = *link_;
  const int error =
      link.drive<int>([&](int* code) { return mysql_reset_connection_start(code, link.get()); },
                      [&link](int* code, int status) {
                        return mysql_reset_connection_cont(code, link.get(), status);
                      });
  if (error != 0) link.fail();
  run("SET NAMES utf8mb4");
  run("USE `" + schema_ + "`");
}

void MariaConnection::set_attribute(std::string_view name, std::string_view value) {
  const bool is_name = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  });
  if (!is_name) {
    throw ParameterError(link_->database(), sqlstate::kBadParameters,
                         fmt::format("attribute \"{}\": expected letters, digits and _", name));
  }
  if (is_number(value)) {
    run(fmt::format("SET SESSION {} = {}", name, value));
    return;
  }
  std::string quoted(2 * value.size() + 1, '\0');
  quoted.resize(mysql_real_escape_string(link_->get(), quoted.data(), value.data(), value.size()));
  run(fmt::format("SET SESSION {} = '{}'", name, quoted));
}

// A kill hits whatever runs when it arrives. So a command of no interest follows, for it to hit
// when what it was meant for has ended by itself.
void MariaConnection::interrupt() {
  const Instant deadline = now() + kInterruptLimit;
  try {
    while (link_->is_busy()) {
      if (now() >= deadline) throw Timeout("the command still runs");
      kill(deadline);  // Again, when it has come before the command.
      if (drained_within(kKillInterval)) break;
    }
    link_->limit(deadline);
    try {
      run("DO 0");
    } catch (const QueryError&) {
      run("DO 0");
    }
  } catch (const DatabaseError&) {
    link_->abort();
  } catch (const Timeout&) {
    link_->abort();
  } catch (const InputOutputError&) {
    link_->abort();
  }
  link_->limit(std::nullopt);
}

bool MariaConnection::drained_within(Duration span) {
  link_->limit(now() + span);
  try {
    link_->drain();
    return true;
  } catch (const Timeout&) {
    return false;
  }
}

void MariaConnection::kill(Instant deadline) {
  const std::unique_ptr<Link> other = connect_(deadline);
  other->limit(deadline);
  try {
    other->ask(fmt::format("KILL QUERY {}", mysql_thread_id(link_->get())));
  } catch (const QueryError&) {
    // It has ended already.
  }
}

}  // namespace fermata::db::mariadb
