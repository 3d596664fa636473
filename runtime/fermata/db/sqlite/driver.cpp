// SPDX-License-Identifier: Apache-2.0
#include "fermata/db/sqlite/driver.hpp"

#include <map>
#include <string>

#include "fermata/base/error.hpp"
#include "fermata/db/sqlite/connection.hpp"
#include "fermata/db/sqlite/handle.hpp"
#include "fermata/db/sqlite/location.hpp"
#include "fermata/io/offload.hpp"

namespace fermata::db::sqlite {

namespace {

std::shared_ptr<Handle> open_elsewhere(const Location& location) {
  return offload([location] { return open_handle(location, true); });
}

class SqliteDriver final : public Driver {
 public:
  void check(const Target& target) const override { (void)locate(target); }

  [[nodiscard]] std::unique_ptr<Connection> connect(Target target) override {
    const Location location = locate(target);
    if (location.in_memory && !kept_.contains(location.name)) {
      kept_.insert({location.name, open_elsewhere(location)});
    }
    return std::make_unique<SqliteConnection>(open_elsewhere(location));
  }

 private:
  std::map<std::string, std::shared_ptr<Handle>> kept_;  // Databases in memory, by name.
};

}  // namespace

std::unique_ptr<Driver> make_driver() {
  if (sqlite3_threadsafe() == 0) {
    throw UsageError("SQLite: expected a library that was built for threads");
  }
  return std::make_unique<SqliteDriver>();
}

}  // namespace fermata::db::sqlite
