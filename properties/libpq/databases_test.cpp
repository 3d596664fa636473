// SPDX-License-Identifier: Apache-2.0

// The law over databases on Fermata's driver for PostgreSQL, with the real libpq below it. Its
// ledger hears what libpq says to the server.

#include "properties/subjects/databases.hpp"
#include "fermata/base/source_place.hpp"
#include "fermata/db/postgresql/driver.hpp"
#include "properties/laws/law_tests.hpp"

namespace fermata::properties {
namespace {

constexpr const char* kUrl =
    "postgresql://somebody@db:5000/books?sslmode=disable&gssencmode=disable"
    "&keepalives_idle=3&keepalives_interval=1&keepalives_count=3&tcp_user_timeout=5000";

std::unique_ptr<Subject> make_subject(Stage& stage) {
  return make_wired_database(stage, db::postgresql::make_driver(), kUrl);
}

rc::Gen<Scenario> scenarios() {
  return scripts_over({wired_database_subject().operations, &make_subject});
}

constinit const Law kLibpqDatabases = {
    "libpq_databases",
    "on the real libpq, too",
    {"DB-03", "DB-04", "DB-05", "DB-06", "DB-09", "DB-11", "DB-13", "DB-15"},
    &scenarios};

[[maybe_unused]] const bool kAdded = [] {
  add_tests(kLibpqDatabases, "DatabasesOverLibpq", "StopNothingThatNobodyWantsStopped",
            "HoldUnderEveryStrategy", SourcePlace::current());
  return true;
}();

}  // namespace
}  // namespace fermata::properties
