// SPDX-License-Identifier: Apache-2.0
#include "properties/suite/entries.hpp"

#include "properties/suite/programs.hpp"

namespace fermata::properties::suite {
namespace {

Entry small_program(std::string name, std::string sentence, void (*body)(sim::World&)) {
  Entry entry{std::move(name), std::move(sentence), nullptr, {}};
  entry.program.body = body;
  return entry;
}

}  // namespace

std::vector<Entry> entries(Tally* total) {
  std::vector<Entry> all;
  for (const Law* law : laws()) {
    all.push_back(
        {std::string(law->name), std::string(law->sentence), law, exploration_of(*law, total)});
    // They run a world within the run, or search through all orders.
    if (law == &kExplanations || law == &kHistories) all.back().beside_steps = 1'500;
  }
  all.push_back(small_program("account", "no deposit is lost", &account));
  all.push_back(small_program("handover", "items arrive once and in order", &handover));
  all.push_back(small_program("echo",
                              "every byte comes back once and in order, or the connection "
                              "is seen to break",
                              &echo_under_faults));
  return all;
}

}  // namespace fermata::properties::suite
