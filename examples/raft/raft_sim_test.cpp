// SPDX-License-Identifier: Apache-2.0

// Three nodes that crash, on a network that falls apart: a term has one leader, and what is
// committed is the same everywhere and stays.

#include <fermata/sim.hpp>
#include <map>
#include <memory>
#include <string>

#include "examples/raft/raft.hpp"

namespace {

using namespace std::chrono_literals;

constexpr const char* kNodes[] = {"one", "two", "three"};

/// Sees what no node can see: all of them.
class Referee {
 public:
  void leads(int term, const std::string& name) {
    const std::string& first = leaders_.emplace(term, name).first->second;
    FERMATA_ALWAYS(first == name, "a term has one leader", "term", term, "first", first, "second",
                   name);
  }

  void committed(int index, const raft::Entry& entry) {
    const raft::Entry& first = entries_.emplace(index, entry).first->second;
    FERMATA_ALWAYS(first.term == entry.term && first.command == entry.command,
                   "what is committed stays", "index", index, "first", first.command, "second",
                   entry.command);
  }

 private:
  std::map<int, std::string> leaders_;
  std::map<int, raft::Entry> entries_;
};

void elect_and_commit(fermata::sim::World& world, raft::Options options) {
  const auto members = std::make_shared<Members>();  // With services, which end after this body.
  const auto referee = std::make_shared<Referee>();
  options.on_leader = [=](int term, const auto& name) { referee->leads(term, name); };
  options.on_commit = [=](int index, const auto& entry) { referee->committed(index, entry); };
  for (const char* name : kNodes) {
    world.service(name, [=] { raft::run_node(name, *members, options); });
    members->emplace(name, world.node(name).address(7000));
  }
  world.nemesis({.machines = {"one", "two", "three"}, .until = 20s});
  world.node("client", [&] {
    for (int i = 1; i <= 8; ++i) {
      raft::propose(*members, "command-" + std::to_string(i));
      fermata::delay(100ms);
    }
  });
  world.run();
}

SIM_TEST(Raft, KeepsItsPromises) { elect_and_commit(world, {}); }

// The planted bugs; `--gtest_also_run_disabled_tests` runs them.
// Finds: safety: always: a term has one leader
SIM_TEST(Raft, DISABLED_VotesBeforeItSaves) {
  elect_and_commit(world, {.save_before_vote = false});
}

// Finds: safety: always: what is committed stays
SIM_TEST(Raft, DISABLED_CommitsByCountingCopies) {
  elect_and_commit(world, {.commit_only_own_term = false});
}

}  // namespace
