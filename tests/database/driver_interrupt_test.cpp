// SPDX-License-Identifier: Apache-2.0

// Suspension, cancellation and early ends of every driver.

#include "tests/database/driver_contract.hpp"

namespace fermata::database_test {
namespace {

// --- suspension ---

CONTRACT(ACommandBlocksNobodyElse, Connection& connection) {
  auto slow = spawn("slow", [&] { ask(connection, arm_.endless); });
  for (int round = 0; round < 20; ++round) delay(1ms);
  EXPECT_FALSE(slow->is_completed());
  slow->cancel();
  EXPECT_THROW(await(slow), Cancellation);
  interrupt(connection);
}

CONTRACT(TwoConnectionsWorkAtTheSameTime, Connection& one, Connection& other) {
  auto slow = spawn("slow", [&] { ask(one, arm_.endless); });
  for (int round = 0; round < 20; ++round) expect_in_order(other);
  EXPECT_FALSE(slow->is_completed());
  slow->cancel();
  EXPECT_THROW(await(slow), Cancellation);
  interrupt(one);
  expect_in_order(other);
}

// --- interrupts ---

CONTRACT(ACommandIsStoppedWheneverItIsCancelled, std::unique_ptr<Connection> connection) {
  for (const auto patience : {0ms, 1ms, 2ms, 5ms, 30ms, 100ms}) {
    for (const Fetch fetch : {Fetch::All, Fetch::ByRows}) {
      SCOPED_TRACE(fmt::format("after {} ms", patience.count()));
      EXPECT_TRUE(cancelled_after(patience, [&] { ask(*connection, arm_.endless, {}, fetch); }));
      interrupt(*connection);
      if (connection->is_broken()) {
        connection = subject_.connect();
      }
      expect_in_order(*connection);
      EXPECT_EQ(connection->transaction(), TransactionState::None);
    }
  }
}

CONTRACT(APreparedCommandIsStopped, std::unique_ptr<Connection> connection) {
  auto prepared = connection->prepare(arm_.endless);
  for (const auto patience : {0ms, 1ms, 30ms}) {
    EXPECT_TRUE(cancelled_after(patience, [&] { ask(*prepared); }));
    interrupt(*connection);
    if (connection->is_broken()) {
      prepared.reset();
      connection = subject_.connect();
      prepared = connection->prepare(arm_.endless);
    }
    expect_in_order(*connection);
  }
}

CONTRACT(AnAnswerIsStoppedWheneverItIsCancelled, std::unique_ptr<Connection> connection) {
  for (const auto patience : {0ms, 1ms, 2ms, 4ms, 8ms, 16ms}) {
    const bool cancelled =
        cancelled_after(patience, [&] { ask(*connection, arm_.many_rows, {}, Fetch::ByRows); });
    if (cancelled) interrupt(*connection);
    if (connection->is_broken()) connection = subject_.connect();
    expect_in_order(*connection);
  }
}

CONTRACT(ParametersAreNotUsedAfterTheCall, std::unique_ptr<Connection> connection) {
  make_kinds(*connection);
  for (const auto patience : {0ms, 1ms, 2ms, 5ms}) {
    const bool cancelled = cancelled_after(patience, [&] {
      const std::string text(60'000, 'x');
      const Bytes bytes(4 << 20);
      ask(*connection, "INSERT INTO contract (t, b) VALUES ($1, $2)", {text, bytes});
    });
    if (cancelled) interrupt(*connection);
    if (connection->is_broken()) connection = subject_.connect();
    expect_in_order(*connection);
  }
  EXPECT_EQ(ask_integer(*connection, "SELECT count(*) FROM contract WHERE t IS NULL"), 0);
}

CONTRACT(AStatementIsDoneOrNotDone, std::unique_ptr<Connection> connection) {
  make_table(*connection);
  std::int64_t expected = 0;
  for (const auto patience : {0ms, 2ms, 8ms, 20ms, 50ms}) {
    const bool cancelled = cancelled_after(patience, [&] {
      connection->run("INSERT INTO contract SELECT n FROM (" + arm_.many_rows + ") AS numbers");
    });
    if (cancelled) interrupt(*connection);
    if (connection->is_broken()) connection = subject_.connect();
    const std::int64_t rows = count(*connection);
    EXPECT_TRUE(rows == expected || rows == expected + 100'000) << rows;
    EXPECT_TRUE(cancelled || rows == expected + 100'000);
    expected = rows;
  }
}

CONTRACT(CallsOfEveryKindAreCancelled, std::unique_ptr<Connection> connection) {
  const std::vector<std::function<void()>> calls = {
      [&] { connection->begin(); },
      [&] { (void)connection->prepare("SELECT 1"); },
      [&] { connection->ping(); },
      [&] { connection->reset_session(); },
      [&] { connection->set_attribute(arm_.attribute, arm_.attribute_value); },
  };
  for (const auto& call : calls) {
    for (int round = 0; round < 3; ++round) {
      const bool cancelled = cancelled_after(0ms, call);
      if (cancelled) interrupt(*connection);
      if (connection->is_broken()) connection = subject_.connect();
      expect_in_order(*connection);
      if (connection->transaction() != TransactionState::None) connection->rollback();
    }
  }
}

CONTRACT(ConnectingIsCancelled, Subject& subject) {
  for (const auto patience : {0ms, 1ms, 2ms, 4ms}) {
    cancelled_after(patience, [&] { expect_in_order(*subject.connect()); });
  }
  expect_in_order(*subject.connect());
}

CONTRACT(AnAnswerDroppedHalfWay, Connection& connection) {
  for (const int rows : {0, 1, 2, 255, 256, 257, 5000}) {
    for (const bool prepared : {false, true}) {
      SCOPED_TRACE(fmt::format("{} rows", rows));
      {
        const auto command = prepared ? connection.prepare(arm_.many_rows) : nullptr;
        const auto answer =
            prepared ? command->execute({}) : connection.execute(arm_.many_rows, {}, Fetch::ByRows);
        std::vector<Cell> row;
        for (int number = 0; number < rows; ++number) ASSERT_TRUE(answer->next(row));
      }
      interrupt(connection);
      ASSERT_FALSE(connection.is_broken());
      expect_in_order(connection);
    }
  }
}

CONTRACT(APreparedCommandRunsAgainAfterItsAnswerWasDropped, Connection& connection) {
  const auto prepared = connection.prepare(arm_.many_rows);
  for (int round = 0; round < 3; ++round) {
    {
      const auto answer = prepared->execute({});
      std::vector<Cell> row;
      ASSERT_TRUE(answer->next(row));
      EXPECT_EQ(integer(db::own(row[0])), 1);
    }
    interrupt(connection);
    ASSERT_FALSE(connection.is_broken());
  }
  EXPECT_EQ(ask(*prepared).rows.size(), 100'000u);
}

CONTRACT(AnAnswerDroppedInATransaction, Connection& one, Connection& other) {
  make_table(one);
  one.begin();
  one.run("INSERT INTO contract VALUES (1)");
  {
    const auto answer = one.execute(arm_.many_rows, {}, Fetch::ByRows);
    std::vector<Cell> row;
    ASSERT_TRUE(answer->next(row));
  }
  interrupt(one);
  ASSERT_FALSE(one.is_broken());
  EXPECT_NE(one.transaction(), TransactionState::None);
  const bool open = one.transaction() == TransactionState::Open;
  if (open) {
    one.commit();
  } else {
    one.rollback();
  }
  EXPECT_EQ(count(other), open ? 1 : 0);
}

CONTRACT(AnInterruptOfNothing, Connection& connection) {
  make_table(connection);
  for (int round = 0; round < 5; ++round) {
    interrupt(connection);
    ASSERT_FALSE(connection.is_broken());
    for (int command = 0; command < 10; ++command) expect_in_order(connection);
  }
  connection.begin();
  connection.run("INSERT INTO contract VALUES (1)");
  interrupt(connection);
  EXPECT_EQ(connection.transaction(), TransactionState::Open);
  connection.commit();
  EXPECT_EQ(count(connection), 1);
}

CONTRACT(AnInterruptComesTooLateForTheNextCommand, Connection& connection) {
  // The command has ended by itself, or almost, when it is stopped.
  for (int round = 0; round < 50; ++round) {
    if (cancelled_after(0ms, [&] { ask(connection, "SELECT 1"); })) interrupt(connection);
    ASSERT_FALSE(connection.is_broken());
    expect_in_order(connection);
  }
}

CONTRACT(AConnectionGoesInTheMiddleOfACommand, Subject& subject) {
  for (const auto patience : {0ms, 5ms, 50ms}) {
    auto connection = subject.connect();
    EXPECT_TRUE(cancelled_after(patience, [&] { ask(*connection, arm_.endless); }));
    const Instant start = now();
    connection.reset();
    EXPECT_LT(now() - start, 2s);
  }
  // More of them than there are threads for work.
  for (int round = 0; round < 6; ++round) {
    auto connection = subject.connect();
    EXPECT_TRUE(cancelled_after(5ms, [&] { ask(*connection, arm_.endless); }));
  }
  expect_in_order(*subject.connect());
}

CONTRACT(AConnectionGoesInTheMiddleOfAnAnswer, Subject& subject) {
  for (int round = 0; round < 3; ++round) {
    auto connection = subject.connect();
    {
      const auto answer = connection->execute(arm_.many_rows, {}, Fetch::ByRows);
      std::vector<Cell> row;
      ASSERT_TRUE(answer->next(row));
    }
    connection.reset();
  }
  expect_in_order(*subject.connect());
}

TEST_P(DriverContract, ARunEndsWithACommandInTheMiddle) {
  const Arm& arm = arm_named(GetParam());
  Subject subject(arm);
  const auto run = [&] {
    Runtime runtime(uv::make_reactor(), {.handle_stop_signals = false});
    runtime.run([&] {
      spawn("left", [&, connection = std::shared_ptr<Connection>(subject.connect())] {
        ask(*connection, arm.endless);
      });
      delay(10ms);
      exit_with(0);
    });
  };
  EXPECT_NO_THROW(run());
  in_runtime([&] { expect_in_order(*subject.connect()); });
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DriverContract);

}  // namespace
}  // namespace fermata::database_test
