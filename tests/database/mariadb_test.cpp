// SPDX-License-Identifier: Apache-2.0

// What is MariaDB's alone.

#include <fmt/format.h>

#include <string>

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

class MariaDb : public ServerTest {
 protected:
  MariaDb() : ServerTest("mariadb", "FERMATA_TEST_MARIADB") {}

  /// The number of the connection that runs SLEEP; 0: none does.
  static std::int64_t sleeper(Database& observer) {
    const auto ids = observer.query<std::int64_t>(
        "SELECT id FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP%'");
    return ids.empty() ? 0 : ids.front();
  }
};

MAIN_TEST_F(MariaDb, ARefusalSaysWhy) {
  EXPECT_EQ(refusal([](db::Target& target) { target.password = "wrong"; }), "28000");
  EXPECT_EQ(refusal([](db::Target& target) { target.database = "nowhere"; }), "42000");
  EXPECT_EQ(refusal([](db::Target& target) { target.host = "nobody.invalid"; }), "08001");
  EXPECT_EQ(refusal([](db::Target& target) { target.port = 1; }), "08001");
  EXPECT_EQ(refusal([](db::Target& target) { target.host = "localhost"; }), "connected");
}

MAIN_TEST_F(MariaDb, AnOptionThatItDoesNotKnowIsRefused) {
  const std::string start = "database \"" + target_.text() + "\": ";
  EXPECT_EQ(error_of([&] {
              database([](db::Target& target) { target.options.emplace_back("ssl", "1"); });
            }),
            start + "option \"ssl\": expected connect_timeout");
  EXPECT_EQ(
      error_of([&] {
        database([](db::Target& target) { target.options.emplace_back("connect_timeout", "0"); });
      }),
      start + "connect_timeout \"0\": expected 1 to 3600 seconds");
}

MAIN_TEST_F(MariaDb, ACancelledCommandIsGoneFromTheServer) {
  auto shared = database(nullptr, {.max = 1});
  auto observer = database();
  auto sleeps = spawn([&] { shared.execute("SELECT SLEEP(60)"); });
  while (sleeper(observer) == 0) delay(1ms);
  sleeps.cancel();
  EXPECT_THROW(await(sleeps), Cancellation);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(shared.query_one<int>("SELECT $1", i), i);
  EXPECT_EQ(sleeper(observer), 0);
  EXPECT_EQ(shared.metrics().connected, 1u);
}

MAIN_TEST_F(MariaDb, AConnectionThatIsKilledInACommandIsReplaced) {
  auto shared = database(nullptr, {.max = 1});
  auto killer = database();
  const auto lost = spawn([&] { shared.execute("SELECT SLEEP(60)"); });
  while (sleeper(killer) == 0) delay(1ms);
  killer.execute(fmt::format("KILL {}", sleeper(killer)));
  EXPECT_THROW(await(lost), db::ConnectionLost);
  EXPECT_EQ(shared.query_one<int>("SELECT 1"), 1);
  shared.begin();
  killer.execute(fmt::format("KILL {}", shared.query_one<std::int64_t>("SELECT connection_id()")));
  EXPECT_THROW(shared.execute("SELECT 1"), db::ConnectionLost);
  EXPECT_THROW(shared.execute("SELECT 1"), db::TransactionLost);
  shared.rollback();
  EXPECT_EQ(shared.query_one<int>("SELECT 1"), 1);
}

MAIN_TEST_F(MariaDb, WhatIsTooLargeForThePacketIsRefusedBeforeItIsSent) {
  auto shared = database(nullptr, {.max = 1});
  const auto limit = shared.query_one<std::size_t>("SELECT @@max_allowed_packet");
  EXPECT_THROW(shared.execute("SELECT LENGTH($1)", std::string(limit, 'x')), db::ParameterError);
  EXPECT_THROW(shared.execute("SELECT '" + std::string(limit, 'x') + "'"), db::ParameterError);
  EXPECT_EQ(shared.query_one<std::size_t>("SELECT LENGTH($1)", std::string(limit / 2, 'x')),
            limit / 2);
  EXPECT_EQ(shared.metrics().connected, 1u);
}

MAIN_TEST_F(MariaDb, AServerThatSpeaksGarbageIsATypedError) {
  auto listener = TcpListener::bind({"127.0.0.1", 0});
  const auto server = spawn([&] {
    for (const std::string& said : {std::string("HTTP/1.1 400 Bad Request\r\n\r\n"),
                                    std::string(2'000, '\xff'), std::string()}) {
      auto client = listener.accept();
      client->write(said);
    }
  });
  for (int i = 0; i < 3; ++i) {
    const std::string state = refusal([&](db::Target& target) {
      target.host = "127.0.0.1";
      target.port = listener.local_address().port();
    });
    EXPECT_NE(state, "connected");
  }
  listener.close();
  EXPECT_NO_THROW(await(server));
}

}  // namespace
}  // namespace fermata::database_test
