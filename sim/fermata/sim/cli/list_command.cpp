// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>

#include "fermata/sim/cli/commands.hpp"
#include "fermata/sim/cli/test_binary.hpp"
#include "fermata/sim/cli/verdict.hpp"
#include "fermata/sim/run/environment.hpp"

namespace fermata::sim::cli {

int list_command(const Arguments& arguments) {
  const std::string filter = arguments.value("FERMATA_FILTER");
  const TestBinary binary(arguments.operands.front());
  const auto tests =
      binary.selected(filter.empty() ? "*" : filter, arguments.value("FERMATA_DISABLED") == "on");
  for (const ListedTest& test : tests) fmt::print("{}  {}\n", test.name, test.place);
  if (binary.others() > 0) {
    fmt::print(stderr, "and {} tests that are not simulated\n", binary.others());
  }
  return kPass;
}

int env_command(const Arguments& /*arguments*/) {
  for (const Variable& variable : variables()) {
    fmt::print("{:<26} {:<12} {}\n", variable.name, variable.default_text, variable.meaning);
  }
  return kPass;
}

}  // namespace fermata::sim::cli
