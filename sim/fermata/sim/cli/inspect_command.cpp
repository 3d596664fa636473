// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/sim/base/json.hpp"
#include "fermata/sim/base/whole_file.hpp"
#include "fermata/sim/cli/commands.hpp"
#include "fermata/sim/cli/outcome.hpp"
#include "fermata/sim/cli/verdict.hpp"
#include "fermata/sim/inspect/inspection.hpp"

namespace fermata::sim::cli {
namespace {

using detail::FunctionClass;
using detail::FunctionsByKind;
using detail::Inspection;

constexpr std::array kFunctionClasses = {FunctionClass::Served, FunctionClass::Passed,
                                         FunctionClass::Unserved, FunctionClass::Unknown};
constexpr std::size_t kLineWidth = 100;

/// Names behind `title`, in lines of a bounded width.
std::string name_lines(std::string_view title, const std::vector<std::string>& names) {
  constexpr std::size_t kIndent = 14;
  std::string text;
  std::string line = fmt::format("    {:<{}}", title, kIndent - 4);
  for (const std::string& name : names) {
    if (line.size() > kIndent && line.size() + 1 + name.size() > kLineWidth) {
      text += line + '\n';
      line.assign(kIndent, ' ');
    }
    line += (line.size() > kIndent ? " " : "") + name;
  }
  return text + line + '\n';
}

std::string inspection_text(const std::string& path, const Inspection& found, bool names_all) {
  std::string text = path + '\n';
  for (const FunctionClass each : kFunctionClasses) {
    text += fmt::format("  {:<12}{:>5}\n", name_of(each), found.count(each));
    if (!names_all && (each == FunctionClass::Served || each == FunctionClass::Passed)) continue;
    for (const auto& [kind, names] : found.of(each)) text += name_lines(kind, names);
  }
  text += fmt::format("  variables   {:>5} bytes\n", found.variables);
  if (!found.needed.empty())
    text += fmt::format("  needs       {}\n", fmt::join(found.needed, " "));
  return text;
}

Json functions_json(const FunctionsByKind& functions) {
  Json json = Json::object();
  for (const auto& [kind, names] : functions) json[std::string(kind)] = names;
  return json;
}

std::string inspection_json(const std::string& path, const Inspection& found) {
  Json json = {{"file", path}};
  for (const FunctionClass each : kFunctionClasses)
    json[std::string(name_of(each))] = functions_json(found.of(each));
  json["old versions"] = found.old_versions;
  json["variables"] = found.variables;
  json["needs"] = found.needed;
  return json_text(json) + '\n';
}

}  // namespace

int inspect_command(const Arguments& arguments) {
  const std::string json = arguments.value("FERMATA_JSON");
  check_reports(json, "");
  const bool names_all = arguments.value("FERMATA_VERBOSE") == "on";
  int code = kPass;
  std::string lines;
  for (const std::string& path : arguments.operands) {
    try {
      const Inspection found = detail::inspect(path);
      fmt::print("{}", inspection_text(path, found, names_all));
      lines += inspection_json(path, found);
      detail::require_no_old_versions(path, found);
    } catch (const Error& error) {
      std::fflush(stdout);
      fmt::print(stderr, "fermata: {}\n", error.what());
      code = kUsage;
    }
  }
  if (!json.empty()) write_whole_file(json, lines);
  return code;
}

}  // namespace fermata::sim::cli
