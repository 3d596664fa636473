// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/db/driver.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/db/errors.hpp"
#include "fermata/db/target.hpp"
#include "fermata/sim/db/server.hpp"
#include "fermata/sim/db/wire.hpp"
#include "fermata/sync/await.hpp"
#include "fermata/uv/reactor.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/main_test.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;
using db::Cell;
using db::Connection;
using db::Fetch;
using db::TransactionState;

std::string text_of(const Cell& cell) {
  struct Text {
    std::string operator()(db::Null) const { return "NULL"; }
    std::string operator()(bool truth) const { return truth ? "true" : "false"; }
    std::string operator()(std::int64_t integer) const { return std::to_string(integer); }
    std::string operator()(double number) const { return fmt::format("{}", number); }
    std::string operator()(std::string_view text) const { return std::string(text); }
    std::string operator()(db::BytesView bytes) const {
      return fmt::format("{} bytes", bytes.size());
    }
  };
  return std::visit(Text(), cell);
}

/// What is left of an answer: "1,ann 2,bob", or "3 rows" for a command without columns.
std::string rest_of(db::Answer& answer) {
  std::string text;
  std::vector<Cell> row;
  while (answer.next(row)) {
    if (!text.empty()) text += ' ';
    for (std::size_t i = 0; i < row.size(); ++i) text += (i > 0 ? "," : "") + text_of(row[i]);
  }
  return answer.columns().empty() ? fmt::format("{} rows", answer.effect().affected_rows) : text;
}

std::string say(Connection& connection, std::string_view sql,
                const std::vector<Cell>& parameters = {}, Fetch fetch = Fetch::All) {
  return rest_of(*connection.execute(sql, parameters, fetch));
}

/// The SQLSTATE of the DatabaseError of kind `Kind` that `act` ends with.
template <class Kind>
std::string state_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Kind& error) {
    return error.sqlstate();
  } catch (const db::DatabaseError& error) {
    return std::string("another kind: ") + error.what();
  }
  return "no error";
}

std::unique_ptr<Connection> connect_to(std::string_view url) {
  return make_database_driver()->connect(db::parse_url(url));
}

class DatabaseDriverTest : public test::WorldFixture {
 protected:
  Node& serve(const DatabaseServerOptions& options = {}) {
    return world_->service("db", [this, options] {
      run_database(database_, {"0.0.0.0", 5000}, options);
    });
  }
  /// Runs `body` on a machine of its own, with the connection `connection_` to the server.
  void run(const std::function<void()>& body) {
    serve();
    with_connection([&](Connection& connection) {
      connection_ = &connection;
      body();
    });
  }
  using WorldFixture::run;
  /// Runs `client` on a machine of its own, with a connection.
  void with_connection(const std::function<void(Connection&)>& client) {
    world_->node("client", [&] {
      delay(1ms);
      client(*connect());
    });
    run();
  }
  static std::unique_ptr<Connection> connect() { return connect_to("sim://db:5000/bank"); }

  std::string ask(std::string_view sql, const std::vector<Cell>& parameters = {}) {
    return say(*connection_, sql, parameters);
  }

  Database database_{"bank"};
  Connection* connection_ = nullptr;
};

MAIN_TEST_F(DatabaseDriverTest, EveryKindOfValueGoesAndComes) {
  ask("CREATE TABLE t (a, b, c, d, e, f)");
  const std::array<std::byte, 3> bytes{};
  const std::vector<Cell> row{Cell(),
                              Cell(true),
                              Cell(std::int64_t{-5}),
                              Cell(0.1),
                              Cell(std::string_view("it's")),
                              Cell(db::BytesView(bytes))};
  EXPECT_EQ(ask("INSERT INTO t VALUES ($1, $2, $3, $4, $5, $6)", row), "1 rows");
  const auto answer = connection_->execute("SELECT * FROM t", {}, Fetch::ByRows);
  EXPECT_EQ(answer->columns(), (std::vector<std::string>{"a", "b", "c", "d", "e", "f"}));
  EXPECT_EQ(rest_of(*answer), "NULL,true,-5,0.1,it's,3 bytes");
}

MAIN_TEST_F(DatabaseDriverTest, ARefusedCommandLeavesTheConnectionInOrder) {
  try {
    ask("SELECT * FROM nowhere");
    ADD_FAILURE() << "expected an error";
  } catch (const db::QueryError& error) {
    EXPECT_EQ(error.sqlstate(), "42P01");
    EXPECT_EQ(error.database(), "sim://db:5000/bank");
  }
  EXPECT_EQ(ask("SELECT 1"), "1");
  connection_->begin();
  EXPECT_EQ(connection_->transaction(), TransactionState::Open);
  EXPECT_EQ(state_of<db::QueryError>([&] { ask("nonsense"); }), "42601");
  EXPECT_EQ(connection_->transaction(), TransactionState::Failed);
  EXPECT_EQ(state_of<db::QueryError>([&] { ask("SELECT 1"); }), "25P02");
  connection_->rollback();
  EXPECT_EQ(connection_->transaction(), TransactionState::None);
}

MAIN_TEST_F(DatabaseDriverTest, WhatCannotBeSentIsRefusedHere) {
  connection_->begin();
  const auto refused = [&](std::string_view sql, const std::vector<Cell>& parameters) {
    return state_of<db::ParameterError>([&] { ask(sql, parameters); });
  };
  EXPECT_EQ(refused("SELECT $1", {}), "07001");
  EXPECT_EQ(refused("SELECT 1", {Cell()}), "07001");
  EXPECT_EQ(refused("SELECT $1", {Cell(std::string_view("a\0b", 3))}), "22021");
  EXPECT_EQ(refused(std::string_view("SELECT 1\0", 9), {}), "22021");
  const std::string large(std::size_t{17} << 20, 'x');
  EXPECT_EQ(refused("SELECT $1", {Cell(std::string_view(large))}), "54000");
  EXPECT_EQ(connection_->transaction(), TransactionState::Open);
  EXPECT_EQ(ask("SELECT '$2', $1", {Cell(std::int64_t{1})}), "$2,1");
}

MAIN_TEST_F(DatabaseDriverTest, PreparedCommands) {
  ask("CREATE TABLE t (a PRIMARY KEY, b)");
  const auto insert = connection_->prepare("INSERT INTO t VALUES ($1, $2)");
  EXPECT_EQ(insert->parameter_count(), 2u);
  for (std::int64_t i = 1; i <= 3; ++i) {
    const std::array<Cell, 2> row{Cell(i), Cell(i * i)};
    EXPECT_EQ(rest_of(*insert->execute(row)), "1 rows");
  }
  EXPECT_EQ(state_of<db::ParameterError>([&] { (void)insert->execute({}); }), "07001");
  EXPECT_EQ(state_of<db::QueryError>([&] { (void)connection_->prepare("SELECT * FROM no"); }),
            "42P01");
  {
    const auto passing = connection_->prepare("SELECT 1");
    EXPECT_EQ(rest_of(*passing->execute({})), "1");
  }
  auto select = connection_->prepare("SELECT sum(b) FROM t");
  EXPECT_EQ(rest_of(*select->execute({})), "14");
  ask("DROP TABLE t");
  ask("CREATE TABLE t (b)");
  const std::string stale = state_of<db::QueryError>([&] { (void)select->execute({}); });
  EXPECT_TRUE(connection_->is_stale_plan(stale)) << stale;
  EXPECT_FALSE(connection_->is_stale_plan("42P01"));
  select = connection_->prepare("SELECT sum(b) FROM t");
  EXPECT_EQ(rest_of(*select->execute({})), "NULL");
  connection_->reset_session();
  EXPECT_EQ(state_of<db::QueryError>([&] { (void)select->execute({}); }), "26000");
  EXPECT_EQ(ask("SELECT 2"), "2");
}

TEST_F(DatabaseDriverTest, ManyRowsComeInPortions) {
  serve({.latency_max = 0ms});
  with_connection([](Connection& connection) {
    say(connection, "CREATE TABLE t (a)");
    for (int i = 0; i < 20; ++i) {
      std::string insert = "INSERT INTO t VALUES (0)";
      for (int j = 1; j < 50; ++j) insert += fmt::format(", ({})", j);
      EXPECT_EQ(say(connection, insert), "50 rows");
    }
    for (const Fetch fetch : {Fetch::All, Fetch::ByRows}) {
      const auto answer = connection.execute("SELECT a FROM t", {}, fetch);
      std::int64_t sum = 0;
      std::vector<Cell> row;
      while (answer->next(row)) sum += std::get<std::int64_t>(row.at(0));
      EXPECT_EQ(sum, 20 * 49 * 25);
    }
    auto left = connection.execute("SELECT a FROM t", {}, Fetch::ByRows);
    std::vector<Cell> row;
    EXPECT_TRUE(left->next(row));
    left.reset();
    connection.interrupt();
    ASSERT_FALSE(connection.is_broken());
    EXPECT_EQ(say(connection, "SELECT count(*) FROM t"), "1000");
  });
}

MAIN_TEST_F(DatabaseDriverTest, ASessionIsMadeNew) {
  connection_->set_attribute("time \"zone", "it's");
  EXPECT_EQ(ask("SHOW \"time \"\"zone\""), "it's");
  ask("CREATE TEMPORARY TABLE t (a)");
  connection_->reset_session();
  EXPECT_EQ(state_of<db::QueryError>([&] { ask("SHOW \"time \"\"zone\""); }), "42704");
  EXPECT_EQ(state_of<db::QueryError>([&] { ask("SELECT * FROM t"); }), "42P01");
  connection_->ping();
  EXPECT_TRUE(connection_->looks_alive());
  EXPECT_EQ(ask("SELECT connection_id() > 0"), "true");
}

/// Spawns `act` and cancels it after `span`; returns when it has ended.
void cancelled_after(Duration span, const std::function<void()>& act) {
  auto caller = spawn("caller", act);
  delay(span);
  caller->cancel();
  try {
    await(caller);
    ADD_FAILURE() << "expected a cancellation";
  } catch (const Cancellation&) {
  }
}

MAIN_TEST_F(DatabaseDriverTest, AnInterruptedCommandIsStoppedAtTheServer) {
  cancelled_after(100ms, [&] { ask("SELECT sleep(3600)"); });
  const Instant before = now();
  connection_->interrupt();
  EXPECT_LT(now() - before, 1s);
  EXPECT_FALSE(connection_->is_broken());
  EXPECT_EQ(ask("SELECT 'mine'"), "mine");

  connection_->begin();
  cancelled_after(100ms, [&] { ask("SELECT sleep(3600)"); });
  connection_->interrupt();
  EXPECT_EQ(connection_->transaction(), TransactionState::Failed);
  connection_->rollback();
  EXPECT_EQ(ask("SELECT 'mine'"), "mine");
}

MAIN_TEST_F(DatabaseDriverTest, WithoutAnInterruptTheNextCommandGetsTheAnswerThatIsLeft) {
  cancelled_after(100ms, [&] { ask("SELECT 'earlier', sleep(1)"); });
  EXPECT_EQ(ask("SELECT 'mine'"), "earlier,NULL");
  EXPECT_EQ(ask("SELECT 'another'"), "mine");
}

/// Who says what, by client and kind.
class Transcript final : public DatabaseTap {
 public:
  void asked(std::uint64_t client, const wire::Frame& frame) override { note(client, frame); }
  void answered(std::uint64_t client, const wire::Frame& frame) override { note(client, frame); }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void note(std::uint64_t client, const wire::Frame& frame) {
    text_ += fmt::format("{}{}", client, static_cast<char>(frame.kind));
  }

  std::string text_;
};

TEST_F(DatabaseDriverTest, ATapHearsEveryFrame) {
  const auto transcript = std::make_shared<Transcript>();
  serve({.tap = transcript});
  with_connection([](Connection& connection) {
    EXPECT_EQ(say(connection, "SELECT 1"), "1");
    cancelled_after(100ms, [&] { say(connection, "SELECT sleep(3600)"); });
    connection.interrupt();
  });
  EXPECT_EQ(transcript->text(), "1S1z1Q1c1r1d1Q2C1e1Y1y");
}

MAIN_TEST_F(DatabaseDriverTest, ALongCommandIsNoSilence) {
  const Instant before = now();
  EXPECT_EQ(ask("SELECT sleep(300)"), "NULL");
  EXPECT_GE(now() - before, 300s);
}

TEST_F(DatabaseDriverTest, WhereverACallIsInterruptedTheConnectionIsInOrderAfterwards) {
  serve();
  world_->node("client", [&] {
    delay(1ms);
    say(*connect(), "CREATE TABLE t (a)");
    std::unique_ptr<Connection> connection;
    bool timed_out = false;
    const auto program = [&] {
      timed_out = false;
      try {
        connection = connect();
        connection->begin();
        say(*connection, "INSERT INTO t VALUES (1)");
        const auto prepared = connection->prepare("SELECT a FROM t WHERE a = $1");
        const std::array<Cell, 1> one{Cell(std::int64_t{1})};
        rest_of(*prepared->execute(one));
        connection->ping();
        connection->rollback();
        connection->reset_session();
      } catch (const db::DatabaseError&) {
        timed_out = true;
      }
    };
    const auto use_again = [&] {
      if (connection == nullptr || timed_out) return connection.reset();
      connection->interrupt();
      ASSERT_FALSE(connection->is_broken());
      if (connection->transaction() != TransactionState::None) connection->rollback();
      EXPECT_EQ(say(*connection, "SELECT 'mine', count(*) FROM t"), "mine,0");
      connection.reset();
    };
    const SweepCounts counts = world_->sweep_cancellation(program, {.then = use_again});
    EXPECT_GT(counts.cancellations, 8u);
  });
  run();
}

/// Commands that end at about the time they are cancelled, on a connection that others follow on.
void race_cancels(bool may_break) {
  std::unique_ptr<Connection> connection;
  for (std::int64_t i = 0; i < 8;) {
    try {
      if (connection == nullptr) connection = connect_to("sim://db:5000/bank");
      const std::array<Cell, 1> own{Cell(i)};
      auto caller = spawn("caller", [&] {
        const auto answer = connection->execute("SELECT $1, sleep(0.004)", own, Fetch::ByRows);
        EXPECT_EQ(rest_of(*answer), fmt::format("{},NULL", i));
      });
      delay(random(12'000) * 1us);
      caller->cancel();
      try {
        await(caller);
      } catch (const Cancellation&) {
        connection->interrupt();
      }
      if (!connection->is_broken()) {
        EXPECT_EQ(say(*connection, "SELECT 1000 + $1", {Cell(i)}), std::to_string(1000 + i));
      }
      EXPECT_TRUE(may_break || !connection->is_broken());
      ++i;
    } catch (const db::QueryError& error) {
      ADD_FAILURE() << error.what();
      return;
    } catch (const db::DatabaseError& error) {
      EXPECT_TRUE(may_break) << error.what();
      delay(100ms);
    }
    if (connection != nullptr && connection->is_broken()) connection.reset();
  }
}

TEST_F(DatabaseDriverTest, ACancelThatComesLateStrikesNobodyElse) {
  for (std::uint64_t seed = 1; seed <= 300 && !HasFailure(); ++seed) {
    const bool faulty = seed % 3 != 0;
    begin(seed, faulty ? FaultSet::all() : FaultSet::none());
    Node& server = serve().may_crash().may_pause();
    bool ended = false;
    world_->at(1min, [&] {
      world_->heal();
      if (!ended && !server.is_up()) server.restart();
    });
    world_->node("client", [&] {
      delay(1ms);
      race_cancels(faulty);
      ended = true;
    });
    run();
    EXPECT_FALSE(HasFailure()) << "with seed " << seed << " and " << world_->faults();
  }
}

TEST_F(DatabaseDriverTest, AClientThatEndsItsSideEndsItsSession) {
  serve();
  world_->node("client", [&] {
    delay(1ms);
    say(*connect(), "CREATE TABLE t (a)");
    TcpStream stream = TcpStream::connect("db", 5000);
    wire::Writer frames;
    frames.begin(wire::Kind::Startup).text("").text("").text("bank").end();
    for (const char* sql : {"BEGIN", "INSERT INTO t VALUES (1)", "SELECT a FROM t"}) {
      frames.begin(wire::Kind::Execute).text(sql).cells({}).u32(0).end();
    }
    stream.write(frames.take());
    stream.shutdown_write();
    wire::Assembler input;
    std::string kinds;
    std::array<std::byte, 256> buffer;
    while (const std::size_t size = stream.read(buffer)) {
      input.add(std::span(buffer).first(size));
      while (const auto frame = input.next()) kinds += static_cast<char>(frame->kind);
    }
    EXPECT_EQ(kinds, "zddcrd") << "what was asked before the end is answered, in order";
    EXPECT_EQ(say(*connect(), "SELECT count(*) FROM t"), "0");
    EXPECT_EQ(database_.transaction_count(), 0u);
  });
  run();
}

TEST_F(DatabaseDriverTest, WhoCannotGetInLearnsWhy) {
  database_.add_user("ann", "hush");
  serve({.sessions_max = 1});
  world_->node("client", [&] {
    delay(1ms);
    const auto refused = [](std::string_view url) {
      return state_of<db::ConnectError>([&] { (void)connect_to(url); });
    };
    EXPECT_EQ(refused("sim://ann:guess@db:5000/bank"), "28P01");
    EXPECT_EQ(refused("sim://ann:hush@db:5000/shop"), "3D000");
    EXPECT_EQ(refused("sim://ann:hush@db:5001/bank"), "08001");
    EXPECT_EQ(refused("sim://ann:hush@nowhere:5000/bank"), "08001");
    const auto connection = connect_to("sim://ann:hush@db:5000/bank");
    EXPECT_EQ(say(*connection, "SELECT 1"), "1");
    EXPECT_EQ(refused("sim://ann:hush@db:5000/bank"), "53300");
    try {
      (void)connect_to("sim://ann:guess@db:5000/bank");
    } catch (const db::ConnectError& error) {
      EXPECT_EQ(std::string(error.what()),
                "database \"sim://ann@db:5000/bank\": SQLSTATE 28P01: password authentication "
                "failed for user \"ann\"");
    }
  });
  run();
}

TEST(DatabaseDriver, KnowsWhatCanNeverBeConnectedTo) {
  const auto driver = make_database_driver();
  const auto check = [&](std::string_view url) {
    return test::error_of([&] { driver->check(db::parse_url(url)); });
  };
  EXPECT_EQ(check("sim://db:5000/bank"), "no error");
  EXPECT_EQ(check("sim://db/bank"), "database \"sim://db/bank\": expected a host and a port");
  EXPECT_EQ(check("sim://db:5000/"),
            "database \"sim://db:5000/\": expected the name of a database");
  EXPECT_EQ(check("odbc://db:5000/bank"),
            "database \"odbc://db:5000/bank\": expected the scheme sim");
  EXPECT_EQ(check("sim://u:hush@db:5000/bank?a=b"),
            "database \"sim://u@db:5000/bank\": expected no options");
}

TEST_F(DatabaseDriverTest, ACrashOfTheServerLosesWhatWasNotCommitted) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    begin(seed);
    Database database("bank");
    Node& server = world_->service("db", [&] { run_database(database, {"0.0.0.0", 5000}); });
    world_->node("client", [&] {
      delay(1ms);
      auto connection = connect();
      say(*connection, "CREATE TABLE t (a)");
      say(*connection, "INSERT INTO t VALUES (1)");
      connection->begin();
      say(*connection, "INSERT INTO t VALUES (2)");
      world_->at(50ms, [&] { server.crash(); });
      EXPECT_EQ(state_of<db::ConnectionLost>([&] { say(*connection, "SELECT sleep(3600)"); }),
                "08006");
      EXPECT_TRUE(connection->is_broken());
      EXPECT_EQ(connection->transaction(), TransactionState::Unknown);
      EXPECT_FALSE(connection->looks_alive());
      EXPECT_EQ(state_of<db::ConnectionLost>([&] { say(*connection, "SELECT 1"); }), "08006");
      EXPECT_EQ(state_of<db::ConnectError>([&] { (void)connect(); }), "08001");
      server.restart();
      delay(1ms);
      EXPECT_EQ(say(*connect(), "SELECT * FROM t"), "1");
    });
    run();
  }
}

TEST_F(DatabaseDriverTest, AnIdleConnectionShowsThatTheServerHasGone) {
  Node& server = serve();
  with_connection([&](Connection& connection) {
    EXPECT_TRUE(connection.looks_alive());
    server.crash();
    delay(1ms);
    server.restart();
    delay(1ms);
    if (connection.looks_alive()) {  // It went in silence.
      EXPECT_EQ(state_of<db::ConnectionLost>([&] { connection.ping(); }), "08006");
    }
    EXPECT_FALSE(connection.looks_alive());
  });
}

TEST_F(DatabaseDriverTest, AServerThatCannotBeReachedIsNotWaitedForForEver) {
  serve();
  with_connection([&](Connection& connection) {
    world_->link("client", "db").cut();
    const Instant before = now();
    EXPECT_EQ(state_of<db::ConnectionLost>([&] { say(connection, "SELECT 1"); }), "08006");
    EXPECT_EQ(state_of<db::ConnectError>([] { (void)connect(); }), "08001");
    EXPECT_LT(now() - before, 1min);
  });
  begin(2);
  serve();
  with_connection([&](Connection& connection) {
    cancelled_after(100ms, [&] { say(connection, "SELECT sleep(3600)"); });
    world_->link("client", "db").cut();
    const Instant before = now();
    connection.interrupt();
    EXPECT_TRUE(connection.is_broken());
    EXPECT_LT(now() - before, 10s);
  });
}

TEST_F(DatabaseDriverTest, WhoIsSilentInATransactionIsSentAway) {
  serve({.transaction_idle_max = 1s, .session_idle_max = 10s});
  with_connection([](Connection& connection) {
    delay(5s);
    connection.begin();
    delay(2s);
    EXPECT_FALSE(connection.looks_alive());
    EXPECT_EQ(state_of<db::ConnectionLost>([&] { say(connection, "SELECT 1"); }), "25P03");
    const auto other = connect();
    delay(11s);
    EXPECT_EQ(state_of<db::ConnectionLost>([&] { other->ping(); }), "57P05");
  });
}

TEST_F(DatabaseDriverTest, AServerThatSpeaksNonsenseIsNotBelieved) {
  for (const std::string_view nonsense :
       {std::string_view("HTTP/1.1 400 Bad Request\r\n\r\n"), std::string_view("\0\0\0\0?", 5),
        std::string_view("\0\0\0\1z\0", 6), std::string_view("\0\0\0\1c\0", 6)}) {
    begin(1);
    world_->service("db", [&] {
      TcpListener listener = TcpListener::bind({"0.0.0.0", 5000});
      while (auto client = listener.accept()) {
        client->write(nonsense);
        std::array<std::byte, 64> buffer;
        while (client->read(buffer) > 0) {
        }
      }
    });
    world_->node("client", [&] {
      delay(1ms);
      EXPECT_EQ(state_of<db::ConnectError>([] { (void)connect(); }), "08P01") << nonsense;
    });
    run();
  }
}

TEST_F(DatabaseDriverTest, AClientThatSpeaksNonsenseIsSentAway) {
  for (const std::string_view nonsense :
       {std::string_view("GET / HTTP/1.1\r\n\r\n"), std::string_view("\0\0\0\0Q", 5),
        std::string_view("\0\0\0\1S\0", 6)}) {
    begin(1);
    serve();
    world_->node("client", [&] {
      delay(1ms);
      TcpStream stream = TcpStream::connect("db", 5000);
      stream.write(nonsense);
      std::array<std::byte, 256> buffer;
      std::string said;
      while (const std::size_t size = stream.read(buffer)) {
        said.append(reinterpret_cast<const char*>(buffer.data()), size);
      }
      EXPECT_NE(said.find("08P01"), std::string::npos);
    });
    run();
  }
}

TEST(DatabaseDriver, RunsOnARealLoopback) {
  Database database("bank");
  Runtime runtime(uv::make_reactor(), {.handle_stop_signals = false});
  EXPECT_EQ(runtime.run([&] {
    DatabaseServer server(database, {"127.0.0.1", 0});
    auto serving = spawn("server", [&] { server.run(); });
    {
      const auto connection =
          connect_to(fmt::format("sim://127.0.0.1:{}/bank", server.address().port()));
      say(*connection, "CREATE TABLE t (a)");
      connection->begin();
      EXPECT_EQ(say(*connection, "INSERT INTO t VALUES (1), (2)"), "2 rows");
      connection->commit();
      cancelled_after(20ms, [&] { say(*connection, "SELECT sleep(3600)"); });
      connection->interrupt();
      EXPECT_EQ(say(*connection, "SELECT a FROM t ORDER BY a DESC"), "2 1");
      connection->ping();
      EXPECT_TRUE(connection->looks_alive());
    }
    server.stop();
    await(serving);
  }),
            0);
  EXPECT_EQ(database.session_count(), 0u);
}

}  // namespace
}  // namespace fermata::sim
