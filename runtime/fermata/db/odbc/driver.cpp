// SPDX-License-Identifier: Apache-2.0
#include "fermata/db/odbc/driver.hpp"

#include <utility>

#include "fermata/db/odbc/connection.hpp"
#include "fermata/db/odbc/connection_string.hpp"

namespace fermata::db::odbc {

namespace {

class OdbcDriver final : public Driver {
 public:
  void check(const Target& target) const override { static_cast<void>(connection_string(target)); }

  std::unique_ptr<Connection> connect(Target target) override {
    auto connection = std::make_unique<OdbcConnection>(std::move(target));
    connection->connect();
    return connection;
  }
};

}  // namespace

std::unique_ptr<Driver> make_driver() { return std::make_unique<OdbcDriver>(); }

}  // namespace fermata::db::odbc
