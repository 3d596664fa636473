// SPDX-License-Identifier: Apache-2.0
#include "properties/suite/entries.hpp"

#include "properties/laws/shrink.hpp"
#include "properties/loop/laws.hpp"
#include "properties/scripts/law.hpp"
#include "properties/scripts/shrink.hpp"
#include "properties/suite/programs.hpp"

namespace fermata::properties::suite {
namespace {

Entry small_program(std::string name, std::string sentence, void (*body)(sim::World&)) {
  Entry entry{std::move(name), std::move(sentence), false, {}, {}};
  entry.program.body = body;
  return entry;
}

}  // namespace

std::vector<Entry> entries(Totals* totals) {
  std::vector<Entry> all;
  for (const Law* law : laws()) {
    all.push_back({std::string(law->name), std::string(law->sentence), true,
                   exploration_of(*law, totals),
                   [law](auto strategy, auto seed) { return shrunk(*law, strategy, seed); }});
  }
  for (const scripts::Law* law : scripts::laws()) {
    all.push_back({std::string(law->name), std::string(law->sentence), true,
                   scripts::exploration_of(*law),
                   [law](auto strategy, auto seed) { return shrunk(*law, strategy, seed); }});
  }
  for (const LoopLaw* law : loop_laws()) {
    all.push_back(
        {std::string(law->name), std::string(law->sentence), true, law->exploration(), {}});
  }
  all.push_back({"choice_independence",
                 "what does not race has one result under every schedule",
                 true,
                 exploration_of_bystanders(),
                 {}});
  all.push_back(small_program("account", "no deposit is lost", &account));
  all.push_back(small_program("handover", "items arrive once and in order", &handover));
  all.push_back(small_program("echo",
                              "every byte comes back once and in order, or the connection "
                              "is seen to break",
                              &echo_under_faults));
  return all;
}

}  // namespace fermata::properties::suite
