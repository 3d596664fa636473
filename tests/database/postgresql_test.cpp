// SPDX-License-Identifier: Apache-2.0

// What is PostgreSQL's alone.

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/db/database.hpp"
#include "fermata/io/tcp.hpp"
#include "fermata/sync/await.hpp"
#include "tests/database/server_fixture.hpp"
#include "tests/support/error_of.hpp"

namespace fermata::database_test {
namespace {

using namespace std::chrono_literals;
using db::Database;
using test::error_of;

class PostgreSql : public ServerTest {
 protected:
  PostgreSql() : ServerTest("postgresql", "FERMATA_TEST_POSTGRESQL") {}

  /// Ends the server's side of every connection but the caller's.
  static void terminate_others(Database& database) {
    database.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE "
        "pid <> pg_backend_pid() AND backend_type = 'client backend'");
  }

  /// Whether somebody's pg_sleep runs.
  static bool sleeping(Database& observer) {
    return observer.query_one<int>(
               "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE "
               "'SELECT pg_sleep%'") > 0;
  }

  /// A message as the server sends it.
  static std::string message(char kind, const std::string& body) {
    const auto length = static_cast<std::uint32_t>(body.size() + 4);
    std::string text(1, kind);
    for (const int shift : {24, 16, 8, 0}) text += static_cast<char>(length >> shift);
    return text + body;
  }
  static std::string fields(std::initializer_list<std::string> each) {
    std::string body;
    for (const std::string& field : each) body += field + '\0';
    return body + '\0';
  }
};

MAIN_TEST_F(PostgreSql, ARefusalSaysWhy) {
  EXPECT_EQ(refusal([](db::Target& target) { target.password = "wrong"; }), "28P01");
  EXPECT_EQ(refusal([](db::Target& target) { target.database = "nowhere"; }), "3D000");
  EXPECT_EQ(refusal([](db::Target& target) { target.host = "nobody.invalid"; }), "08001");
  EXPECT_EQ(refusal([](db::Target& target) { target.host = "999.1.1.1"; }), "08001");
  EXPECT_EQ(refusal([](db::Target& target) { target.host = "::g"; }), "08001");
  EXPECT_EQ(refusal([](db::Target& target) { target.port = 1; }), "08001");
  EXPECT_EQ(refusal([](db::Target& target) { target.host = "localhost"; }), "connected");
}

MAIN_TEST_F(PostgreSql, AnOptionThatItDoesNotKnowIsRefused) {
  const auto with = [this](std::string name, std::string value) {
    return error_of(
        [&] { database([&](db::Target& target) { target.options.emplace_back(name, value); }); });
  };
  const std::string start = "database \"" + target_.text() + "\": ";
  EXPECT_EQ(with("passfile", "/x").find(start + "option \"passfile\": expected one of "), 0u);
  EXPECT_EQ(with("connect_timeout", "soon"),
            start + "connect_timeout \"soon\": expected 1 to 3600 seconds");
  EXPECT_EQ(with("application_name", "me"), "no error");
}

MAIN_TEST_F(PostgreSql, ACancelledCommandIsGoneFromTheServer) {
  auto shared = database(nullptr, {.max = 1});
  auto observer = database();
  auto sleeper = spawn([&] { shared.execute("SELECT pg_sleep(60)"); });
  while (!sleeping(observer)) delay(1ms);
  sleeper.cancel();
  EXPECT_THROW(await(sleeper), Cancellation);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(shared.query_one<int>("SELECT $1::int", i), i);
  EXPECT_FALSE(sleeping(observer));
  EXPECT_EQ(shared.metrics().connected, 1u);
}

MAIN_TEST_F(PostgreSql, ACommandIsNotDoneWhenItsCommitIsRefused) {
  auto shared = database(nullptr, {.max = 1});
  shared.execute("CREATE TEMPORARY TABLE parent (id INT PRIMARY KEY)");
  shared.execute(
      "CREATE TEMPORARY TABLE child (id INT REFERENCES parent DEFERRABLE INITIALLY DEFERRED)");
  EXPECT_THROW(shared.execute("INSERT INTO child VALUES (1)"), db::QueryError);
  EXPECT_EQ(shared.last_error().sqlstate, "23503");
  EXPECT_EQ(shared.query_one<int>("SELECT count(*) FROM child"), 0);
}

MAIN_TEST_F(PostgreSql, AConnectionThatIsEndedInACommandIsReplaced) {
  auto shared = database(nullptr, {.max = 1});
  auto killer = database();
  killer.execute("SELECT 1");
  const auto lost = spawn([&] { shared.execute("SELECT pg_sleep(60)"); });
  while (!sleeping(killer)) delay(1ms);
  terminate_others(killer);
  EXPECT_EQ(error_of([&] { await(lost); }),
            "database \"" + target_.text() +
                "\": SQLSTATE 57P01: terminating connection due to administrator command");
  EXPECT_EQ(shared.query_one<int>("SELECT 1"), 1);
  shared.begin();
  terminate_others(killer);
  EXPECT_THROW(shared.execute("SELECT 1"), db::ConnectionLost);
  EXPECT_THROW(shared.execute("SELECT 1"), db::TransactionLost);
  shared.rollback();
  EXPECT_EQ(shared.query_one<int>("SELECT 1"), 1);
  terminate_others(killer);  // One that is idle: seen before it is used, if the news is here.
  const std::string idle = error_of([&] { shared.execute("SELECT 1"); });
  EXPECT_TRUE(idle == "no error" || idle.find("terminating connection") != std::string::npos);
  EXPECT_EQ(shared.query_one<int>("SELECT 1"), 1);
}

MAIN_TEST_F(PostgreSql, ACopyIsRefusedAndTheConnectionGoesOn) {
  auto shared = database(nullptr, {.max = 1});
  shared.execute("DROP TABLE IF EXISTS copied");
  shared.execute("CREATE TABLE copied (i int)");
  await(spawn([&] {
    for (const char* copy : {"COPY copied FROM STDIN", "COPY (SELECT 1) TO STDOUT"}) {
      EXPECT_NE(error_of([&] {
                  shared.execute(copy);
                }).find("COPY to or from the client: expected another command"),
                std::string::npos);
      EXPECT_EQ(shared.query_one<int>("SELECT 1"), 1);
    }
  }));
  EXPECT_EQ(shared.query_one<int>("SELECT count(*) FROM copied"), 0);
  EXPECT_EQ(shared.metrics().connected, 1u);
}

MAIN_TEST_F(PostgreSql, APlanThatIsStaleIsMadeAnew) {
  auto shared = database(nullptr, {.max = 1, .statement_cache = 4});
  shared.execute("DROP TABLE IF EXISTS replanned");
  shared.execute("CREATE TABLE replanned (i int)");
  auto statement = shared.prepare("SELECT * FROM replanned");
  EXPECT_TRUE(statement.query().empty());
  shared.execute("ALTER TABLE replanned ADD COLUMN j int");
  shared.execute("INSERT INTO replanned VALUES (1, 2)");
  EXPECT_EQ((statement.query_one<std::pair<int, int>>()), (std::pair{1, 2}));
  shared.execute("DROP TABLE replanned");
}

MAIN_TEST_F(PostgreSql, AStatementThatTheServerHasForgottenIsPreparedAnew) {
  auto shared = database(nullptr, {.max = 1, .statement_cache = 4});
  auto statement = shared.prepare("SELECT 1");
  EXPECT_EQ(statement.query_one<int>(), 1);
  shared.execute("DEALLOCATE ALL");
  EXPECT_EQ(statement.query_one<int>(), 1);
  shared.execute("DEALLOCATE ALL");
  shared.begin();
  { const auto dropped = shared.prepare("SELECT 2"); }
  EXPECT_EQ(shared.query_one<int>("SELECT 3"), 3);
  shared.commit();
}

/// Commands that the server knows by a name of ours.
std::int64_t prepared_at_server(Database& database) {
  return database.query_one<std::int64_t>(
      "SELECT count(*) FROM pg_prepared_statements WHERE name LIKE 'fermata_%' AND "
      "statement NOT LIKE '%pg_prepared_statements%'");
}

MAIN_TEST_F(PostgreSql, ACommandThatRunsAgainIsKeptPrepared) {
  auto shared = database(nullptr, {.max = 1, .statement_cache = 2});
  EXPECT_EQ(shared.query_one<int>("SELECT $1", 1), 1);
  EXPECT_EQ(prepared_at_server(shared), 0);
  for (int i = 2; i < 5; ++i) EXPECT_EQ(shared.query_one<int>("SELECT $1", i), i);
  EXPECT_EQ(prepared_at_server(shared), 1);
  // With a parameter of another kind it is another command.
  for (const char* text : {"a", "b", "c"}) {
    EXPECT_EQ(shared.query_one<std::string>("SELECT $1", text), text);
  }
  EXPECT_EQ(shared.query_one<int>("SELECT $1", 9), 9);
  for (int i = 0; i < 9; ++i) {
    const std::string sql = fmt::format("SELECT {}", i % 3);
    EXPECT_EQ(shared.query_one<int>(sql), i % 3);
  }
  EXPECT_LE(prepared_at_server(shared), 2);
}

MAIN_TEST_F(PostgreSql, ACommandInATransactionIsNotKeptPrepared) {
  auto shared = database(nullptr, {.max = 1, .statement_cache = 2});
  auto transaction = shared.transaction();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(shared.query_one<int>("SELECT $1", i), i);
  EXPECT_EQ(prepared_at_server(shared), 0);
}

MAIN_TEST_F(PostgreSql, AKeptCommandWhosePlanIsStaleIsMadeAnew) {
  auto shared = database(nullptr, {.max = 1, .statement_cache = 4});
  shared.execute("DROP TABLE IF EXISTS kept");
  shared.execute("CREATE TABLE kept (id INT)");
  shared.execute("INSERT INTO kept VALUES (1)");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(shared.query_one("SELECT * FROM kept").size(), 1u);
  shared.execute("ALTER TABLE kept ADD COLUMN name TEXT");
  EXPECT_EQ(shared.query_one("SELECT * FROM kept").size(), 2u);
  shared.execute("DROP TABLE kept");
  EXPECT_THROW(shared.execute("SELECT * FROM kept"), db::QueryError);
  EXPECT_EQ(shared.query_one<int>("SELECT 1"), 1);
}

MAIN_TEST_F(PostgreSql, BytesComeBackInEveryFormatOfTheServer) {
  auto shared = database(nullptr, {.max = 1});
  std::string every;
  for (int byte = 0; byte < 256; ++byte) every += static_cast<char>(byte);
  for (const char* format : {"escape", "hex"}) {
    SCOPED_TRACE(format);
    shared.set_attribute("bytea_output", format);
    for (const std::string& sent : {every, std::string(), std::string("a"), std::string("\\x")}) {
      const auto* const data = reinterpret_cast<const std::byte*>(sent.data());
      const db::Bytes bytes(data, data + sent.size());
      EXPECT_EQ(shared.query_one<db::Bytes>("SELECT $1::bytea", bytes), bytes);
    }
  }
}

TEST_F(PostgreSql, WhatTheServerRemarksIsNotShown) {
  ::testing::internal::CaptureStderr();
  in_runtime([this] {
    auto listener = TcpListener::bind({"127.0.0.1", 0});
    const auto server = spawn([&] {
      auto client = listener.accept();
      std::array<std::byte, 4'096> greeting;
      static_cast<void>(client->read(greeting));
      client->write(message('R', std::string(4, '\0')) +
                    message('N', fields({"SWARNING", "VWARNING", "C01000", "Mread me"})) +
                    message('E', fields({"SFATAL", "VFATAL", "C57P03", "Mstill starting"})));
    });
    // Whatever language the message is in.
    EXPECT_EQ(refusal([&](db::Target& target) {
                target.host = "127.0.0.1";
                target.port = listener.local_address().port();
                target.options = {{"sslmode", "disable"}, {"gssencmode", "disable"}};
              }),
              "57P03");
    listener.close();
    EXPECT_NO_THROW(await(server));
    database().execute("DO $$ BEGIN RAISE WARNING 'read me'; END $$");
  });
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

MAIN_TEST_F(PostgreSql, AServerThatSpeaksGarbageIsATypedError) {
  auto listener = TcpListener::bind({"127.0.0.1", 0});
  const auto server = spawn([&] {
    for (std::string said : {std::string("HTTP/1.1 400 Bad Request\r\n\r\n"),
                             std::string("N") + std::string(2'000, '\xff'), std::string()}) {
      auto client = listener.accept();
      client->write(said);
    }
  });
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(refusal([&](db::Target& target) {
                target.host = "127.0.0.1";
                target.port = listener.local_address().port();
              }),
              "08001");
  }
  listener.close();
  EXPECT_NO_THROW(await(server));
}

MAIN_TEST_F(PostgreSql, AServerThatIsFullSaysSo) {
  std::vector<Database> many;
  std::string state = "connected";
  while (state == "connected" && many.size() < 200) {
    many.push_back(database());
    try {
      many.back().begin();
      await(spawn([&] { many.back().begin(); }));
    } catch (const db::ConnectError& error) {
      state = error.sqlstate();
    }
  }
  EXPECT_EQ(state, "53300");
  EXPECT_GT(many.size(), 10u);
  for (Database& each : many) {
    if (each.in_transaction()) each.rollback();
  }
}

}  // namespace
}  // namespace fermata::database_test
