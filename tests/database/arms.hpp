// SPDX-License-Identifier: Apache-2.0
#pragma once

// The databases that this run has, and where their SQL differs. PostgreSQL and MariaDB are there
// when FERMATA_TEST_POSTGRESQL and FERMATA_TEST_MARIADB hold their URLs, as with_servers.py sets
// them; the others need no server.

#include <string>
#include <string_view>
#include <vector>

namespace fermata::database_test {

struct Arm {
  std::string name;  // As part of the name of a test.
  std::string url;
  /// Its URL with a database that does not exist; empty when that shows only with the first
  /// command.
  std::string nowhere;

  std::string bytes_type;
  /// A column of ids that the database gives.
  std::string given_id;
  /// A command that ends by itself only after minutes, if ever; it answers one row.
  std::string endless;
  /// Selects the integers from 1 to 100,000 as n, as long as nothing follows it.
  std::string many_rows;
  /// Selects like many_rows, but fails after some rows.
  std::string failing_row;
  /// An attribute, another value of it, and what shows it.
  std::string attribute;
  std::string attribute_value;
  std::string show_attribute;

  bool tells_last_insert_id = true;
  /// An error in a transaction leaves nothing to do but its end.
  bool errors_fail_transactions = false;
  /// A connection is in order again after an interrupt.
  bool survives_interrupt = true;
  /// `SELECT 1; SELECT 2` is refused.
  bool refuses_two_commands = true;
  /// A number comes back with all of its digits, not with the first 15.
  bool exact_numbers = true;
  /// A prepared command has the columns that its table has now.
  bool prepared_sees_new_columns = true;
};

/// The arms of this run, with their database files in a folder that is removed with the process.
[[nodiscard]] const std::vector<Arm>& arms();
[[nodiscard]] std::vector<std::string> arm_names();
[[nodiscard]] const Arm& arm_named(std::string_view name);

/// One line for each database that this run does without.
[[nodiscard]] const std::vector<std::string>& left_out();

}  // namespace fermata::database_test
