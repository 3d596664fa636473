// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/db/postgresql_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fermata/core/suspend.hpp"
#include "fermata/sim/db/evaluate.hpp"
#include "fermata/sim/db/postgresql_client.hpp"
#include "fermata/sim/db/postgresql_statement.hpp"
#include "fermata/sim/db/postgresql_tap.hpp"
#include "fermata/sim/db/sql_error.hpp"
#include "fermata/sim/db/wire.hpp"

namespace fermata::sim::postgresql {

namespace {

using db::TransactionState;
using detail::Backend;
using detail::Farewell;
using sql::SqlError;
using ControlAction = sql::TransactionCommand::Action;

constexpr std::size_t kUnsentMax = std::size_t{32} << 10;
constexpr std::uint32_t kNullSize = 0xffff'ffff;

/// A statement with its parameters, and what is left of its answer.
struct Portal {
  std::shared_ptr<const Statement> statement;
  std::vector<db::Value> parameters;
  std::vector<Format> formats;
  std::optional<sql::Result> result;
  std::size_t sent = 0;
};

std::vector<Format> read_formats(MessageReader& fields) {
  std::vector<Format> formats;
  for (std::uint16_t left = fields.i16(); left > 0; --left) {
    const std::uint16_t format = fields.i16();
    if (format > 1) throw SqlError("22023", fmt::format("unsupported format code: {}", format));
    formats.push_back(static_cast<Format>(format));
  }
  return formats;
}

void require_formats(std::span<const Format> formats, std::size_t count, std::string_view what) {
  if (formats.size() <= 1 || formats.size() == count) return;
  throw SqlError("08P01", fmt::format("bind message has {} {} formats but {} {}s", formats.size(),
                                      what, count, what));
}

class ServerSession {
 public:
  ServerSession(detail::DatabaseServerState& server, Client& client, Tap& tap)
      : client_(client),
        tap_(tap),
        backend_(server, random_bits() >> 32),
        session_(backend_.session()) {}

  void run() {
    greet();
    while (const std::optional<Message> message = next()) {
      if (message->kind == 'X') return;
      answer(message->kind, MessageReader(message->fields));
    }
  }

 private:
  MessageWriter& writer() noexcept { return client_.writer(); }
  void send() { client_.send(backend_.options().transaction_idle_max); }

  void greet() {
    writer().begin('R').i32(0).end();
    for (const auto& [name, value] : std::initializer_list<std::pair<const char*, const char*>>{
             {"server_version", "15.0"},
             {"server_encoding", "UTF8"},
             {"client_encoding", "UTF8"},
             {"DateStyle", "ISO, MDY"},
             {"TimeZone", "Etc/UTC"},
             {"IntervalStyle", "postgres"},
             {"integer_datetimes", "on"},
             {"standard_conforming_strings", "on"},
             {"default_transaction_read_only", "off"},
             {"in_hot_standby", "off"}}) {
      writer().begin('S').text(name).text(value).end();
    }
    writer().begin('K').i32(static_cast<std::uint32_t>(session_.id()));
    writer().i32(static_cast<std::uint32_t>(backend_.secret())).end();
    tap_.let_in(session_.id(), backend_.secret());
    get_ready();
  }

  /// The client has the word.
  void get_ready() {
    const TransactionState state = session_.transaction();
    tap_.done(state);
    writer().begin('Z').i8(state == TransactionState::Open     ? 'T'
                           : state == TransactionState::Failed ? 'E'
                                                               : 'I');
    writer().end();
    send();
  }

  std::optional<Message> next() {
    try {
      return client_.read(false, backend_.silence_max());
    } catch (const Timeout&) {
      backend_.throw_silent();
    }
  }

  void answer(char kind, MessageReader fields) {
    switch (kind) {
      case 'Q':
        return simple_query(fields);
      case 'S':
        return synchronise();
      case 'P':
      case 'B':
      case 'D':
      case 'E':
      case 'C':
      case 'H':
        return extended(kind, fields);
      case 'c':  // The client ends a COPY that was refused.
      case 'd':
      case 'f':
        return;
      case 'F':
        refuse(SqlError("0A000", "the function call protocol is not supported"));
        return get_ready();
      default:
        throw Farewell("08P01", fmt::format("invalid frontend message type {}", int{kind}));
    }
  }

  void refuse(const SqlError& error) {
    session_.fail(error.sqlstate());
    if (std::exchange(implicit_, false)) session_.execute("ROLLBACK");
    tap_.refused(false, error.sqlstate(), error.what(), session_.transaction());
    client_.tell('E', "ERROR", error.sqlstate(), error.what());
  }

  // --- the simple protocol ---

  void simple_query(MessageReader fields) {
    const std::string_view sql = fields.text();
    fields.end();
    tap_.asked(sql);
    skips_ = false;
    portals_.erase("");
    statements_.erase("");
    try {
      run_all(commands_in(sql));
    } catch (const Farewell&) {
      throw;
    } catch (const SqlError& error) {
      refuse(error);
    }
    backend_.delay_a_little();
    get_ready();
  }

  /// In one transaction, unless they end it.
  void run_all(const std::vector<std::string_view>& commands) {
    if (commands.empty()) {
      pause(backend_.latency());
      writer().begin('I').end();
    }
    for (const std::string_view& command : commands) {
      Portal portal;
      portal.statement = std::make_shared<Statement>(compile(session_, command, {}));
      if (portal.statement->plan.command.parameter_count > 0) {
        throw SqlError("42P02", "there is no parameter $1");
      }
      run(portal, commands.size() > 1);
      if (&command == &commands.back()) commit_implicit();
      if (!portal.statement->shape.columns.empty()) {
        client_.describe(portal.statement->shape, portal.formats);
      }
      send_rows(portal, 0);
    }
  }

  // --- the extended protocol ---

  void extended(char kind, MessageReader fields) {
    if (skips_) return;
    try {
      if (kind == 'P') return parse(fields);
      if (kind == 'B') return bind(fields);
      if (kind == 'E') return execute(fields);
      if (kind == 'H') return send();
      const char what = fields.i8();
      const std::string name(fields.text());
      fields.end();
      if (kind == 'D') return what == 'S' ? describe_statement(name) : describe_portal(name);
      what == 'S' ? statements_.erase(name) : portals_.erase(name);
      writer().begin('3').end();
    } catch (const Farewell&) {
      throw;
    } catch (const SqlError& error) {
      refuse(error);
      skips_ = true;
    }
  }

  void parse(MessageReader fields) {
    const std::string name(fields.text());
    const std::string_view sql = fields.text();
    name.empty() ? tap_.asked(sql) : tap_.asked_to_prepare(sql);
    std::vector<Oid> given;
    for (std::uint16_t left = fields.i16(); left > 0; --left) given.push_back(fields.i32());
    fields.end();
    if (!name.empty() && statements_.contains(name)) {
      throw SqlError("42P05", fmt::format("prepared statement \"{}\" already exists", name));
    }
    statements_.insert_or_assign(name,
                                 std::make_shared<const Statement>(compile(session_, sql, given)));
    writer().begin('1').end();
  }

  std::shared_ptr<const Statement> statement(const std::string& name) const {
    const auto found = statements_.find(name);
    if (found != statements_.end()) return found->second;
    throw SqlError("26000", fmt::format("prepared statement \"{}\" does not exist", name));
  }

  std::shared_ptr<Portal> portal(const std::string& name) {
    const auto found = portals_.find(name);
    if (found != portals_.end()) return found->second;
    throw SqlError("34000", fmt::format("portal \"{}\" does not exist", name));
  }

  void bind(MessageReader fields) {
    std::string name(fields.text());
    Portal portal;
    const std::string prepared(fields.text());
    if (!prepared.empty()) tap_.asked_for_prepared();
    portal.statement = statement(prepared);
    const std::vector<Format> formats = read_formats(fields);
    const std::vector<Oid>& types = portal.statement->shape.parameters;
    const std::uint16_t count = fields.i16();
    if (count != types.size()) {
      throw SqlError("08P01", fmt::format("bind message supplies {} parameters, expected {}", count,
                                          types.size()));
    }
    require_formats(formats, count, "parameter");
    for (std::uint16_t i = 0; i < count; ++i) {
      const std::uint32_t size = fields.i32();
      if (size == kNullSize) {
        portal.parameters.emplace_back();
      } else {
        portal.parameters.push_back(
            decode(types[i], Client::format_of(formats, i), fields.take(size)));
      }
    }
    portal.parameters.resize(portal.statement->plan.command.parameter_count);
    portal.formats = read_formats(fields);
    require_formats(portal.formats, portal.statement->shape.columns.size(), "result column");
    fields.end();
    portals_.insert_or_assign(std::move(name), std::make_shared<Portal>(std::move(portal)));
    writer().begin('2').end();
  }

  void describe_statement(const std::string& name) {
    const Shape& shape = statement(name)->shape;
    writer().begin('t').i16(shape.parameters.size());
    for (const Oid type : shape.parameters) writer().i32(type);
    writer().end();
    client_.describe(shape, {});
  }

  void describe_portal(const std::string& name) {
    const std::shared_ptr<const Portal> described = portal(name);
    client_.describe(described->statement->shape, described->formats);
  }

  void execute(MessageReader fields) {
    const std::shared_ptr<Portal> executed = portal(std::string(fields.text()));
    const std::uint32_t rows_max = fields.i32();
    fields.end();
    if (executed->statement->kind == Statement::Kind::Empty) {
      pause(backend_.latency());
      return writer().begin('I').end();
    }
    if (!executed->result) run(*executed, false);
    send_rows(*executed, rows_max);
  }

  /// The end of what the client wants to be one.
  void synchronise() {
    try {
      if (!skips_) commit_implicit();
    } catch (const SqlError& error) {
      refuse(error);
    }
    skips_ = false;
    if (session_.transaction() == TransactionState::None) portals_.clear();
    backend_.delay_a_little();
    get_ready();
  }

  // --- commands ---

  void run(Portal& portal, bool in_transaction) {
    const Statement& statement = *portal.statement;
    pause(backend_.latency());
    if (statement.kind != Statement::Kind::Sql) {
      portal.result.emplace();
      return change_session(statement);
    }
    pause(session_.duration(statement.plan, portal.parameters));
    if (const sql::TransactionCommand* const command = statement.control()) {
      portal.result = control(statement, *command);
      return;
    }
    const bool none = session_.transaction() == TransactionState::None;
    if (none && (in_transaction || statement.writes())) begin_implicit();
    portal.result = sets_a_variable(statement.plan.command)
                        ? set_variable(statement, portal.parameters)
                        : session_.execute(statement.plan, portal.parameters);
  }

  void change_session(const Statement& statement) {
    if (statement.kind == Statement::Kind::DiscardAll) {
      session_.reset();
      portals_.clear();
      statements_.clear();
    } else if (statement.kind == Statement::Kind::DeallocateAll) {
      statements_.clear();
    } else if (statements_.erase(statement.name) == 0) {
      throw SqlError("26000",
                     fmt::format("prepared statement \"{}\" does not exist", statement.name));
    }
  }

  sql::Result control(const Statement& statement, const sql::TransactionCommand& command) {
    const TransactionState state = session_.transaction();
    const bool ends =
        command.action == ControlAction::Commit || command.action == ControlAction::Rollback;
    const bool implicit = implicit_;
    if (ends && (implicit || state == TransactionState::None)) {
      warn("25P01", "there is no transaction in progress");
    }
    if (ends && state == TransactionState::None) return {};
    if (command.action == ControlAction::Begin && state == TransactionState::Open) {
      if (!std::exchange(implicit_, false)) {
        warn("25001", "there is already a transaction in progress");
      }
      return {};
    }
    if (ends) implicit_ = false;
    sql::Result result = session_.execute(statement.plan, {});
    rolled_back_ = command.action == ControlAction::Commit && state == TransactionState::Failed;
    return result;
  }

  void warn(std::string_view sqlstate, std::string_view message) {
    client_.tell('N', "WARNING", sqlstate, message);
  }

  /// SELECT set_config(name, value, is_local). What is local lasts as long as the session.
  sql::Result set_variable(const Statement& statement, std::span<const db::Value> parameters) {
    const auto& select = std::get<sql::Select>(statement.plan.command.statement);
    const std::vector<sql::Expression>& operands = select.items[0].expression.operands;
    const auto text = [&](const sql::Expression& operand) {
      const db::Value value = sql::evaluate(operand, {parameters, session_.id()});
      if (const auto* const found = std::get_if<std::string>(&value)) return *found;
      throw SqlError("22004", "set_config takes a name and a value");
    };
    sql::Set set{text(operands[0]), text(operands[1])};
    const std::string value = set.value;
    session_.execute(sql::Plan{{std::move(set)}}, {});
    return {{select.items[0].name}, {{value}}};
  }

  void begin_implicit() {
    session_.execute("BEGIN");
    implicit_ = true;
  }

  void commit_implicit() {
    if (std::exchange(implicit_, false)) session_.execute("COMMIT");
  }

  /// The next `most` rows of the answer, or all that are left when that is 0, and its end.
  void send_rows(Portal& portal, std::size_t most) {
    const Statement& statement = *portal.statement;
    const std::vector<ColumnShape>& columns = statement.shape.columns;
    const std::vector<sql::Row>& rows = portal.result->rows;
    std::size_t end = rows.size();
    if (most != 0) end = std::min(end, portal.sent + most);
    for (; portal.sent < end; ++portal.sent) {
      writer().begin('D').i16(columns.size());
      for (std::size_t i = 0; i < columns.size(); ++i) {
        writer().value(
            encode(columns[i].type, Client::format_of(portal.formats, i), rows[portal.sent][i]));
      }
      writer().end();
      if (writer().size() > kUnsentMax) send();
    }
    if (end < rows.size()) return writer().begin('s').end();
    const bool rolled_back = std::exchange(rolled_back_, false);
    writer().begin('C').text(rolled_back ? "ROLLBACK" : tag_of(statement, *portal.result)).end();
  }

  void pause(Duration span) {
    backend_.pause(span, [] {});
  }

  Client& client_;
  Tap& tap_;
  Backend backend_;
  sql::Session& session_;
  std::map<std::string, std::shared_ptr<const Statement>> statements_;
  std::map<std::string, std::shared_ptr<Portal>> portals_;  // One may end itself: DISCARD ALL.
  bool implicit_ = false;     // The transaction is not one that the client has begun.
  bool skips_ = false;        // Everything up to Sync.
  bool rolled_back_ = false;  // By the COMMIT that runs.
};

struct Greeting {
  std::string user;
  std::string database;
};

Greeting read_greeting(MessageReader fields) {
  Greeting greeting;
  while (true) {
    const std::string_view name = fields.text();
    if (name.empty()) break;
    const std::string_view value = fields.text();
    if (name == "user") greeting.user = value;
    if (name == "database") greeting.database = value;
  }
  fields.end();
  if (greeting.database.empty()) greeting.database = greeting.user;
  return greeting;
}

/// The client that has sent its greeting; nothing when it has only wanted a cancellation, or is
/// gone.
std::optional<Greeting> meet(detail::DatabaseServerState& server, Client& client, const Tap& tap) {
  constexpr std::uint32_t kCancel = 80'877'102;
  constexpr std::uint32_t kEncryptByTls = 80'877'103;
  constexpr std::uint32_t kEncryptByGss = 80'877'104;
  while (const std::optional<Message> message = client.read(true, detail::kStartupMax)) {
    MessageReader fields(message->fields);
    const std::uint32_t code = fields.i32();
    if (code == kEncryptByTls || code == kEncryptByGss) {
      client.writer().i8('N');
      client.send(detail::kStartupMax);
      continue;
    }
    if (code == kCancel) {
      const std::uint32_t session = fields.i32();
      const std::uint32_t secret = fields.i32();
      tap.asked_to_stop(session, secret);
      cancel_session(server, session, secret, detail::Lateness::Drawn);
      return std::nullopt;
    }
    if (code >> 16 == 3) return read_greeting(fields);
    throw Farewell("0A000", fmt::format("unsupported frontend protocol {}.{}: server supports 3.0",
                                        code >> 16, code & 0xffff));
  }
  return std::nullopt;
}

std::string ask_for_password(Client& client) {
  client.writer().begin('R').i32(3).end();
  client.send(detail::kStartupMax);
  const std::optional<Message> message = client.read(false, detail::kStartupMax);
  if (!message || message->kind != 'p') throw wire::WireError("no password came");
  return std::string(MessageReader(message->fields).text());
}

void converse(detail::DatabaseServerState& server, Client& client, Tap& tap) {
  const std::optional<Greeting> greeting = meet(server, client, tap);
  if (!greeting) return;
  tap.greeted(greeting->user, greeting->database);
  const bool trusted = server.database.lets_in(greeting->user, "");
  if (!trusted && !server.database.lets_in(greeting->user, ask_for_password(client))) {
    throw Farewell("28P01",
                   fmt::format("password authentication failed for user \"{}\"", greeting->user));
  }
  require_welcome(server, greeting->database);
  ServerSession(server, client, tap).run();
}

}  // namespace

void serve_client(detail::DatabaseServerState& server, std::uint64_t number, TcpStream stream,
                  std::span<const std::byte> begun) {
  Client client(std::move(stream), begun);
  Tap tap(server.options.tap.get(), number);
  const auto say_farewell = [&](std::string_view sqlstate, std::string_view why) {
    tap.refused(true, sqlstate, why, TransactionState::Unknown);
    client.tell('E', "FATAL", sqlstate, why);
  };
  try {
    converse(server, client, tap);
  } catch (const Farewell& reason) {
    say_farewell(reason.sqlstate(), reason.what());
  } catch (const wire::WireError& error) {
    say_farewell("08P01", error.what());
  }
  client.send(detail::kStartupMax);
}

}  // namespace fermata::sim::postgresql
