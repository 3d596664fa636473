// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/db/driver.hpp"
#include "fermata/db/errors.hpp"
#include "fermata/db/drivers/factory.hpp"
#include "fermata/db/target.hpp"
#include "fermata/db/value.hpp"
#include "tests/conformance/uv_arm.hpp"
#include "tests/database/arms.hpp"
#include "tests/support/main_test.hpp"

namespace fermata::database_test {

/// A whole answer.
struct Result {
  std::vector<std::string> columns;
  std::vector<std::vector<db::Value>> rows;
  db::Effect effect;

  /// The one value of an answer that should have one.
  [[nodiscard]] db::Value value() const {
    EXPECT_EQ(rows.size(), 1u);
    if (rows.size() != 1) return {};
    EXPECT_EQ(rows.front().size(), 1u);
    return rows.front().empty() ? db::Value() : rows.front().front();
  }
};

inline Result read_all(db::Answer& answer) {
  Result result;
  result.columns = answer.columns();
  std::vector<db::Cell> row;
  while (answer.next(row)) {
    EXPECT_EQ(row.size(), result.columns.size());
    auto& owned = result.rows.emplace_back();
    for (const db::Cell& cell : row) owned.push_back(db::own(cell));
  }
  result.effect = answer.effect();
  return result;
}

inline std::vector<db::Cell> cells_of(const std::vector<db::Value>& values) {
  std::vector<db::Cell> cells;
  for (const db::Value& value : values) cells.push_back(db::view(value));
  return cells;
}

inline Result ask(db::Connection& connection, std::string_view sql,
                  const std::vector<db::Value>& parameters = {}, db::Fetch fetch = db::Fetch::All) {
  const std::vector<db::Cell> cells = cells_of(parameters);
  const std::unique_ptr<db::Answer> answer = connection.execute(sql, cells, fetch);
  return read_all(*answer);
}

inline Result ask(db::Prepared& prepared, const std::vector<db::Value>& parameters = {}) {
  const std::vector<db::Cell> cells = cells_of(parameters);
  const std::unique_ptr<db::Answer> answer = prepared.execute(cells);
  return read_all(*answer);
}

/// One integer, in whatever way the database calls it.
inline std::int64_t integer(const db::Value& value) {
  if (const auto* const truth = std::get_if<bool>(&value)) return *truth ? 1 : 0;
  if (const auto* const text = std::get_if<std::string>(&value)) return std::stoll(*text);
  const auto* const number = std::get_if<std::int64_t>(&value);
  EXPECT_NE(number, nullptr) << db::kind_of(db::view(value));
  return number != nullptr ? *number : -1;
}

inline std::int64_t ask_integer(db::Connection& connection, std::string_view sql,
                                const std::vector<db::Value>& parameters = {}) {
  return integer(ask(connection, sql, parameters).value());
}

/// Runs `body` as the main coroutine of a runtime.
template <class Body>
void in_runtime(Body&& body) {
  conformance::UvArm::run(body);
}

/// A test whose body may be the main coroutine of a runtime: a MAIN_TEST_F.
class DriverTest : public ::testing::Test {
 protected:
  template <class Body>
  static void run(Body&& body) {
    in_runtime(body);
  }
};

/// A driver and connections to the database of one arm.
class Subject {
 public:
  explicit Subject(const Arm& arm)
      : target_(db::parse_url(arm.url)), driver_(db::make_driver(target_.scheme)) {
    driver_->check(target_);
  }

  [[nodiscard]] db::Driver& driver() noexcept { return *driver_; }
  [[nodiscard]] const db::Target& target() const noexcept { return target_; }
  [[nodiscard]] std::unique_ptr<db::Connection> connect() { return driver_->connect(target_); }

 private:
  db::Target target_;
  std::unique_ptr<db::Driver> driver_;
};

}  // namespace fermata::database_test
