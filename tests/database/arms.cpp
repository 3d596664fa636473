// SPDX-License-Identifier: Apache-2.0
#include "tests/database/arms.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "fermata/db/drivers/factory.hpp"
#include "fermata/db/target.hpp"

namespace fermata::database_test {

namespace {

constexpr std::string_view kNumbers =
    "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {}) ";

Arm sqlite_arm(std::string name, std::string url, std::string nowhere) {
  return {.name = std::move(name),
          .url = std::move(url),
          .nowhere = std::move(nowhere),
          .bytes_type = "BLOB",
          .given_id = "INTEGER PRIMARY KEY AUTOINCREMENT",
          .endless = fmt::format(kNumbers, "1000000000000") + "SELECT count(*) FROM numbers",
          .many_rows = fmt::format(kNumbers, "100000") + "SELECT n FROM numbers",
          .failing_row =
              fmt::format(kNumbers, "100000") +
              "SELECT abs(CASE n WHEN 700 THEN -9223372036854775807 - 1 ELSE n END) FROM numbers",
          .attribute = "cache_size",
          .attribute_value = "321",
          .show_attribute = "PRAGMA cache_size"};
}

Arm postgresql_arm(std::string name, std::string url, std::string nowhere) {
  return {.name = std::move(name),
          .url = std::move(url),
          .nowhere = std::move(nowhere),
          .bytes_type = "BYTEA",
          .given_id = "BIGSERIAL PRIMARY KEY",
          .endless = "SELECT 1 FROM (SELECT pg_sleep(600)) AS sleep",
          .many_rows = "SELECT n FROM generate_series(1, 100000) AS n",
          .failing_row = "SELECT n / (n - 700) FROM generate_series(1, 100000) AS n",
          .attribute = "search_path",
          .attribute_value = "pg_catalog",
          .show_attribute = "SELECT current_setting('search_path')",
          .tells_last_insert_id = false,
          .errors_fail_transactions = true};
}

Arm mariadb_arm(std::string url, std::string nowhere) {
  return {.name = "mariadb",
          .url = std::move(url),
          .nowhere = std::move(nowhere),
          .bytes_type = "LONGBLOB",
          .given_id = "BIGINT PRIMARY KEY AUTO_INCREMENT",
          .endless = "SELECT SLEEP(600)",
          .many_rows = "SELECT seq AS n FROM seq_1_to_100000",
          .failing_row =
              "SELECT CAST(9223372036854775000 AS SIGNED) + CAST(seq AS SIGNED) FROM "
              "seq_1_to_100000",
          .attribute = "group_concat_max_len",
          .attribute_value = "4321",
          .show_attribute = "SELECT @@group_concat_max_len"};
}

std::string odbc_driver(std::string_view driver) {
  return fmt::format("odbc:///?Driver={}", driver);
}

std::string odbc_over(const db::Target& target) {
  std::string url = odbc_driver("PostgreSQL%20Unicode");
  url += fmt::format("&Servername={}&Database={}", target.host, target.database);
  if (target.port) url += fmt::format("&Port={}", *target.port);
  if (!target.user.empty()) url += fmt::format("&UID={}", target.user);
  if (!target.password.empty()) url += fmt::format("&PWD={}", target.password);
  return url;
}

/// `url` with another database.
std::string elsewhere(std::string url, const db::Target& target) {
  const std::string here = '/' + target.database;
  const std::size_t found = url.rfind(here);
  if (found == std::string::npos) return {};
  return url.replace(found, here.size(), "/no_such_database");
}

class Arms {
 public:
  Arms() {
    std::string folder = (std::filesystem::temp_directory_path() / "fermata_db_XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no folder for databases");
    folder_ = folder;

    if (has_driver("sqlite")) {
      arms.push_back(sqlite_arm("sqlite", fmt::format("sqlite:///{}/direct.db", folder),
                                fmt::format("sqlite:///{}/nowhere/direct.db", folder)));
    }
    if (has_driver("odbc")) {
      const std::string url = odbc_driver("SQLite3") + "&Database=" + folder;
      Arm arm = sqlite_arm("odbc_sqlite", url + "/odbc.db", url + "/nowhere/odbc.db");
      arm.tells_last_insert_id = false;
      arm.exact_numbers = false;
      arm.prepared_sees_new_columns = false;
      arms.push_back(std::move(arm));
    }
    add_server("postgresql", "FERMATA_TEST_POSTGRESQL", [&](const std::string& url) {
      const db::Target target = db::parse_url(url);
      if (has_driver("postgresql")) {
        arms.push_back(postgresql_arm("postgresql", url, elsewhere(url, target)));
      }
      if (has_driver("odbc")) {
        db::Target nowhere = target;
        nowhere.database = "no_such_database";
        Arm arm = postgresql_arm("odbc_postgresql", odbc_over(target), odbc_over(nowhere));
        arm.refuses_two_commands = false;
        arm.errors_fail_transactions = false;  // Its driver sets a savepoint before each command.
        arms.push_back(std::move(arm));
      }
    });
    add_server("mariadb", "FERMATA_TEST_MARIADB", [&](const std::string& url) {
      if (has_driver("mariadb")) {
        arms.push_back(mariadb_arm(url, elsewhere(url, db::parse_url(url))));
      }
    });
  }
  ~Arms() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Arms(const Arms&) = delete;
  Arms& operator=(const Arms&) = delete;

  std::vector<Arm> arms;
  std::vector<std::string> left_out;

 private:
  bool has_driver(std::string_view scheme) {
    const std::vector<std::string_view> drivers = db::available_drivers();
    if (std::find(drivers.begin(), drivers.end(), scheme) != drivers.end()) return true;
    left_out.push_back(fmt::format("{}: this build has no driver for it", scheme));
    return false;
  }

  template <class Add>
  void add_server(std::string_view name, const char* variable, const Add& add) {
    if (const char* const url = std::getenv(variable); url != nullptr && *url != '\0') {
      add(url);
    } else {
      left_out.push_back(fmt::format("{}: {} is not set", name, variable));
    }
  }

  std::string folder_;
};

const Arms& all() {
  static const Arms arms;
  return arms;
}

}  // namespace

const std::vector<Arm>& arms() { return all().arms; }

const std::vector<std::string>& left_out() { return all().left_out; }

std::vector<std::string> arm_names() {
  std::vector<std::string> names;
  for (const Arm& arm : arms()) names.push_back(arm.name);
  return names;
}

const Arm& arm_named(std::string_view name) {
  const auto found =
      std::find_if(arms().begin(), arms().end(), [&](const Arm& arm) { return arm.name == name; });
  if (found == arms().end()) throw std::logic_error(fmt::format("no database {}", name));
  return *found;
}

}  // namespace fermata::database_test
