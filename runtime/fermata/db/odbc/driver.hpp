// SPDX-License-Identifier: Apache-2.0
#pragma once

// ODBC, through unixODBC: odbc:///DSN?NAME=VALUE&... The DSN may be empty; the options are
// attributes of the connection string, such as Driver, Server, Database; user and password of the
// URL are UID and PWD. The URL has no host: what names the server differs between drivers.
//
// Threads       Each call runs on the offload pool, one at a time for each connection, and keeps
// its
//               thread until the database has answered.
// Interruption  SQLCancel, while the call runs. It is made on the pool, or on the loop's thread
// when
//               the pool is full; a call that is not back after 5 seconds is left to itself, and
//               its connection is broken. A transaction in which a command was stopped is Failed:
//               what the database has undone differs.
// Parameters    Each ? outside of quotes is a parameter for ODBC: an operator of that name cannot
// be
//               written. What the driver of a database makes of kinds is its own: that for SQLite
//               answers numbers with 15 digits, and gives no rows of RETURNING.
// Columns       A column's type says the kind of its cells. NUMERIC and DECIMAL are text, exactly.
// In
//               SQLite an integer column may hold other values: their kind is what they look like.
// Memory        Fetch::ByRows takes some rows at a time from the driver, which may have read all of
//               them (psqlODBC does unless UseDeclareFetch=1, that for SQLite unless StepAPI=1).
// Transactions  begin() turns autocommit off until commit() or rollback(). A commit that fails is
//               rolled back. BEGIN, COMMIT and the like as SQL are recognised by their words; what
//               procedures and settings of the database do to transactions is not known.
// Sessions      ODBC cannot make a session new: reset_session() connects again, and what was
// prepared
//               is stale. set_attribute() knows how PostgreSQL, MariaDB, MySQL and SQLite call for
//               it, and throws QueryError for others; most drivers have options of the URL for
//               that.
// Loss          Is seen by the next command, not by looks_alive().

#include <memory>

#include "fermata/db/driver.hpp"

namespace fermata::db::odbc {

[[nodiscard]] std::unique_ptr<Driver> make_driver();

}  // namespace fermata::db::odbc
