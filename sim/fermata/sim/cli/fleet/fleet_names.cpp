// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/fleet/fleet_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "fermata/base/error.hpp"
#include "fermata/sim/cli/child.hpp"
#include "fermata/sim/cli/search_path.hpp"

namespace fermata::sim::cli {
namespace {

/// The first line of what addr2line says of itself; empty when there is none that works.
std::string version_of_addr2line() {
  constexpr std::chrono::seconds kPatience(10);
  const std::optional<std::string> program = find_in_path("addr2line");
  if (!program) return {};
  Child child({.program = *program, .arguments = {"--version"}});
  if (!run_to_end(child, kPatience) || child.ending().code != 0) return {};
  const std::string said = child.output();
  return said.substr(0, said.find('\n'));
}

}  // namespace

std::string names_for_plan(const RunOptions& options) {
  const std::pair<std::string, std::string> off("FERMATA_NAMES", "off");
  if (std::find(options.handed_on.begin(), options.handed_on.end(), off) != options.handed_on.end())
    return {};
  std::string version = version_of_addr2line();
  if (version.empty()) {
    throw UsageError(
        "fleet plan: there is no addr2line in PATH, which looks up the functions in reports: "
        "expected the package binutils here and on the machines of all workers, or --names off "
        "for reports without them");
  }
  return version;
}

void require_names(const FleetPlan& plan) {
  if (plan.terms().names.empty()) return;
  const std::string version = version_of_addr2line();
  if (version == plan.terms().names) return;
  throw UsageError(fmt::format(
      "fleet work: this machine would give other bytes than others for the same chunk, since it "
      "has {}: expected '{}', of the package binutils, which looks up the functions in reports; a "
      "plan made with --names off does without",
      version.empty() ? "no addr2line in PATH" : "the addr2line '" + version + "'",
      plan.terms().names));
}

}  // namespace fermata::sim::cli
