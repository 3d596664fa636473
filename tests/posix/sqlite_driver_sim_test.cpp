// SPDX-License-Identifier: Apache-2.0

// The bank on Debian's SQLite, through Fermata's driver, on a machine that crashes at any call.

#include <fermata/core/assertions.hpp>
#include <fermata/db/database.hpp>
#include <fermata/db/sqlite/driver.hpp>
#include <fermata/sim.hpp>
#include <memory>
#include <string>

#include "examples/bank/day.hpp"

namespace {

using namespace std::chrono_literals;

struct Paper {
  bank::Books books;
  unsigned lives = 0;
};

void keep_books(Paper& paper, const std::string& journal, const std::string& synchronous) {
  ++paper.lives;
  fermata::db::Database database(
      fermata::db::sqlite::make_driver(),
      fermata::db::parse_url("sqlite:///bank.db?transaction=immediate"),
      {.name = "bank",
       .max = 2,
       .acquire_timeout = 30s,
       .attributes = {{"journal_mode", journal}, {"synchronous", synchronous}}});
  bank::spend_a_day(database, paper.books);
}

void nothing_is_lost(fermata::sim::World& world, const char* journal, const char* synchronous) {
  const auto paper = std::make_shared<Paper>();
  world.node("bank", [=] { keep_books(*paper, journal, synchronous); }).may_crash();
  world.at(20s, [&] { world.heal(); });
  world.run();
  FERMATA_SOMETIMES_GE(paper->lives, 2u, "the machine comes up again");
}

SIM_TEST(SqliteDriver, KeepsTheBooksWithALog) { nothing_is_lost(world, "WAL", "FULL"); }

SIM_TEST(SqliteDriver, KeepsTheBooksWithAJournal) { nothing_is_lost(world, "DELETE", "EXTRA"); }

// Finds: on 'bank' is lost
SIM_TEST(SqliteDriver, DISABLED_LosesWhatIsNotSynced) { nothing_is_lost(world, "WAL", "OFF"); }

}  // namespace
