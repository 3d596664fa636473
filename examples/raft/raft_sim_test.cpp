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

/// Now and then a node crashes, or two of them do not hear each other for a while.
void disturb(fermata::sim::World& world) {
  for (int i = 0; i < 3; ++i) {
    const char* const crashing = kNodes[fermata::random(3)];
    const auto crashes_at = fermata::random(4'000) * 1ms;
    const auto is_down = fermata::random(300) * 1ms;
    world.at(crashes_at, [=, &world] {
      if (!world.node(crashing).is_up()) return;
      world.node(crashing).crash();
      world.at(is_down, [=, &world] { world.node(crashing).restart(); });
    });
    const auto one = fermata::random(3);
    const auto cut_at = fermata::random(4'000) * 1ms;
    const auto is_cut = fermata::random(2'000) * 1ms;
    auto link = world.link(kNodes[one], kNodes[(one + 1) % 3]);
    world.at(cut_at, [link]() mutable { link.cut(); });
    world.at(cut_at + is_cut, [link]() mutable { link.mend(); });
  }
}

void elect_and_commit(fermata::sim::World& world, bool save_before_vote) {
  const auto members = std::make_shared<Members>();  // With services, which end after this body.
  const auto referee = std::make_shared<Referee>();
  const raft::Options options{
      .save_before_vote = save_before_vote,
      .on_leader = [referee](int term, const std::string& name) { referee->leads(term, name); },
      .on_commit = [referee](int index,
                             const raft::Entry& entry) { referee->committed(index, entry); }};
  for (const char* name : kNodes) {
    world.service(name, [=] { raft::run_node(name, *members, options); });
    members->emplace(name, world.node(name).address(7000));
  }
  disturb(world);
  world.node("client", [&] {
    for (const char* command : {"red", "green"}) {
      raft::propose(*members, command);
      fermata::delay(1s);
    }
  });
  world.at(20s, [&] { world.heal(); });
  world.run();
}

SIM_TEST(Raft, HasOneLeaderInEachTerm) { elect_and_commit(world, true); }

// The planted bug; `--gtest_also_run_disabled_tests` runs it.
// Finds: safety: always: a term has one leader
SIM_TEST(Raft, DISABLED_VotesBeforeItSaves) { elect_and_commit(world, false); }

}  // namespace
