// SPDX-License-Identifier: Apache-2.0
#include "fermata/db/drivers/factory.hpp"

#include <fmt/format.h>

#include "fermata/base/error.hpp"
#include "fermata/db/database.hpp"
#ifdef FERMATA_WITH_SQLITE
#include "fermata/db/sqlite/driver.hpp"
#endif
#ifdef FERMATA_WITH_POSTGRESQL
#include "fermata/db/postgresql/driver.hpp"
#endif
#ifdef FERMATA_WITH_MARIADB
#include "fermata/db/mariadb/driver.hpp"
#endif
#ifdef FERMATA_WITH_ODBC
#include "fermata/db/odbc/driver.hpp"
#endif

namespace fermata::db {

namespace {

struct KnownDriver {
  std::string_view scheme;
  std::string_view alias;
  std::unique_ptr<Driver> (*make)();
};

constexpr KnownDriver kDrivers[] = {
#ifdef FERMATA_WITH_SQLITE
    {"sqlite", "sqlite3", sqlite::make_driver},
#endif
#ifdef FERMATA_WITH_POSTGRESQL
    {"postgresql", "postgres", postgresql::make_driver},
#endif
#ifdef FERMATA_WITH_MARIADB
    {"mariadb", "mysql", mariadb::make_driver},
#endif
#ifdef FERMATA_WITH_ODBC
    {"odbc", "odbc", odbc::make_driver},
#endif
    {"", "", nullptr},
};

}  // namespace

std::unique_ptr<Driver> make_driver(std::string_view scheme) {
  for (const KnownDriver& driver : kDrivers) {
    if (driver.make != nullptr && (scheme == driver.scheme || scheme == driver.alias)) {
      return driver.make();
    }
  }
  throw UsageError(fmt::format("database driver \"{}\": expected one of this build: {}", scheme,
                               fmt::join(available_drivers(), ", ")));
}

Database Database::connect(std::string_view url, DatabaseOptions options) {
  Target target = parse_url(url);
  std::unique_ptr<Driver> driver = make_driver(target.scheme);
  return Database(std::move(driver), std::move(target), std::move(options));
}

std::vector<std::string_view> available_drivers() {
  std::vector<std::string_view> schemes;
  for (const KnownDriver& driver : kDrivers) {
    if (driver.make != nullptr) schemes.push_back(driver.scheme);
  }
  return schemes;
}

}  // namespace fermata::db
