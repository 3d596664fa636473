// SPDX-License-Identifier: Apache-2.0

// Three machines, of which two keep a log, on a network that falls apart again and again: each
// client sees everything that was acknowledged before it asked, once, and in one order for all.

#include <fermata/sim.hpp>
#include <memory>
#include <set>
#include <sstream>

#include "examples/replication/replica.hpp"

namespace {

using namespace std::chrono_literals;

using Log = std::vector<std::string>;

Log parse(const std::string& text) {
  std::istringstream words(text);
  Log log;
  for (std::string entry; words >> entry;) log.push_back(entry);
  return log;
}

/// What linearizability comes to for a log that only grows.
class Ledger {
 public:
  void appended(const std::string& entry) { acknowledged_.insert(entry); }
  [[nodiscard]] std::set<std::string> acknowledged() const { return acknowledged_; }

  /// A client that asked when `before` had been acknowledged has read `log`.
  void read(const std::set<std::string>& before, const Log& log) {
    const std::set<std::string> entries(log.begin(), log.end());
    EXPECT_EQ(entries.size(), log.size()) << "an entry is there twice";
    for (const std::string& entry : before) EXPECT_EQ(entries.count(entry), 1u) << entry;
    const Log& shorter = log.size() < longest_.size() ? log : longest_;
    const Log& longer = log.size() < longest_.size() ? longest_ : log;
    EXPECT_TRUE(std::equal(shorter.begin(), shorter.end(), longer.begin())) << "orders differ";
    longest_ = longer;
    acknowledged_.insert(log.begin(), log.end());  // Who asks from now on must see no less.
  }

 private:
  std::set<std::string> acknowledged_;
  Log longest_;
};

SIM_TEST(Replication, IsOneLogForAllClients) {
  const auto shared = std::make_shared<Members>();  // With services, which end after this body.
  Members& members = *shared;
  const auto arbiter = std::make_shared<Arbiter>();
  for (const char* name : {"arbiter", "one", "two", "three"}) {
    world.service(name, [shared, arbiter, name = std::string(name)] {
      if (name == "arbiter") {
        serve(shared->at(name), arbiter);
      } else {
        run_replica(name, *shared);
      }
    });
    members.emplace(name, world.node(name).address(7000));
  }
  for (int i = 0; i < 4; ++i) {
    const auto when = 1s + fermata::random(4'000) * 1ms;
    const auto how_long = 1s + fermata::random(4'000) * 1ms;
    world.at(when, [&, how_long] {
      const std::string primary = arbiter->view().primary;
      for (const auto& member : members) {
        const std::string other = member.first;
        if (primary == "-" || other == primary) continue;
        world.link(primary, other).cut();
        world.at(how_long, [&, primary, other] { world.link(primary, other).mend(); });
      }
    });
  }
  Ledger ledger;
  for (const char* name : {"ann", "bob"}) {
    world.node(name, [&, name = std::string(name)] {
      Client client(members);
      for (int i = 0; i < 10; ++i) {
        const std::string entry = name + std::to_string(i);
        client.append(entry);
        ledger.appended(entry);
        fermata::delay(fermata::random(500) * 1ms);
      }
    });
  }
  world.node("reader", [&] {
    Client client(members);
    for (int i = 0; i < 40; ++i) {
      const auto before = ledger.acknowledged();
      ledger.read(before, parse(client.read()));
      fermata::delay(fermata::random(300) * 1ms);
    }
  });
  world.at(20s, [&] { world.heal(); });
  world.run();
}

}  // namespace
