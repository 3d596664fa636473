// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <utility>

#include "fermata/db/database.hpp"
#include "tests/database/driver_fixture.hpp"

namespace fermata::database_test {

/// What only one driver has, with its server at the URL that a variable of the environment holds.
/// Without the variable the test is skipped.
class ServerTest : public DriverTest {
 protected:
  ServerTest(std::string driver, const char* variable)
      : driver_(std::move(driver)), variable_(variable) {}

  void SetUp() override {
    const char* const url = std::getenv(variable_);
    if (url == nullptr) GTEST_SKIP() << "no " << variable_;
    target_ = db::parse_url(url);
  }
  /// The server's URL, changed.
  db::Database database(const std::function<void(db::Target&)>& change = nullptr,
                        db::DatabaseOptions options = {}) const {
    db::Target target = target_;
    if (change) change(target);
    return {db::make_driver(driver_), std::move(target), std::move(options)};
  }
  /// The SQLSTATE with which no connection comes about.
  [[nodiscard]] std::string refusal(const std::function<void(db::Target&)>& change) const {
    auto refused = database(change);
    try {
      refused.execute("SELECT 1");
    } catch (const db::ConnectError& error) {
      EXPECT_EQ(std::string(error.what()).find(target_.password), std::string::npos);
      return error.sqlstate();
    }
    return "connected";
  }

  std::string driver_;
  const char* variable_;
  db::Target target_;
};

}  // namespace fermata::database_test
