// SPDX-License-Identifier: Apache-2.0

// A machine that crashes, on a disk that tears and loses what was not synced: what put() has
// returned for is there when the machine is up again.

#include <fermata/sim.hpp>
#include <map>
#include <set>

#include "examples/wal_store/wal_store.hpp"

namespace {

/// What two writers have been promised.
struct Ledger {
  std::map<std::string, int> acknowledged;  // The last number of each writer.
  std::map<std::string, int> tried;
};

void check(const wal_store::Store& store, const Ledger& ledger) {
  for (const auto& [writer, number] : ledger.acknowledged) {
    const std::string found = store.get(writer).value_or("0");
    FERMATA_ALWAYS_GE(std::stoi(found), number, "an acknowledged write survives a crash", "writer",
                      writer, "acknowledged", number, "found", found);
    FERMATA_ALWAYS_LE(std::stoi(found), ledger.tried.at(writer), "nothing is made up");
  }
}

void write(wal_store::Store& store, const std::string& writer, Ledger& ledger) {
  try {
    for (int i = 0; i < 4; ++i) {
      const int number = ++ledger.tried[writer];
      store.put(writer, std::to_string(number));
      ledger.acknowledged[writer] = number;
    }
  } catch (const fermata::InputOutputError&) {  // The disk is full, or broken.
  }
}

void run_store(wal_store::Options options, Ledger& ledger) {
  try {
    wal_store::Store store(".", options);
    check(store, ledger);
    std::vector<fermata::Coroutine<>> writers;
    for (const std::string name : {"ann", "bob"}) {
      writers.push_back(fermata::spawn(name, [&, name] { write(store, name, ledger); }));
    }
    fermata::when_all_settled(writers);
  } catch (const fermata::InputOutputError&) {  // It could not be opened.
  }
}

void write_and_crash(fermata::sim::World& world, wal_store::Options options) {
  Ledger ledger;
  world.node("store", [&] { run_store(options, ledger); });
  world.nemesis({.machines = {"store"}});
  world.run();
}

SIM_TEST(WalStore, KeepsWhatItHasAcknowledged) { write_and_crash(world, {}); }

// The planted bug; `--gtest_also_run_disabled_tests` runs it.
// Finds: safety: always: an acknowledged write survives a crash
SIM_TEST(WalStore, DISABLED_DoesNotSyncTheDirectory) {
  write_and_crash(world, {.sync_directory = false});
}

}  // namespace
