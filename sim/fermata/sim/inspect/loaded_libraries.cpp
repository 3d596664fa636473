// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/inspect/loaded_libraries.hpp"

#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "fermata/base/error.hpp"
#include "fermata/posix/foreign_code.hpp"
#include "fermata/posix/kernel.hpp"
#include "fermata/sim/inspect/inspection.hpp"

namespace fermata::sim::detail {

namespace {

struct Loaded {
  std::string path;
  Inspection found;

  [[nodiscard]] std::string name() const { return path.substr(path.rfind('/') + 1); }
};

int note_foreign(dl_phdr_info* library, std::size_t, void* paths) {
  if (posix::is_foreign_library(library->dlpi_name)) {
    static_cast<std::vector<std::string>*>(paths)->emplace_back(library->dlpi_name);
  }
  return 0;
}

std::vector<Loaded> loaded_libraries() {
  if (!posix::is_linked()) return {};
  std::vector<std::string> paths;
  ::dl_iterate_phdr(&note_foreign, &paths);
  std::vector<Loaded> loaded;
  for (std::string& path : paths) {
    try {
      Inspection found = inspect(path);
      loaded.push_back({std::move(path), std::move(found)});
    } catch (const Error&) {
      continue;
    }
  }
  return loaded;
}

/// The names of a class without those in `allowed`, in alphabetical order.
std::vector<std::string> names_of(const Inspection& found, FunctionClass function_class,
                                  const std::vector<std::string>& allowed) {
  std::vector<std::string> all;
  for (const auto& [kind, names] : found.of(function_class)) {
    std::copy_if(names.begin(), names.end(), std::back_inserter(all), [&](const std::string& each) {
      return std::find(allowed.begin(), allowed.end(), each) == allowed.end();
    });
  }
  std::sort(all.begin(), all.end());
  return all;
}

/// At most a few names.
std::string some_of(std::vector<std::string> names) {
  constexpr std::size_t kMost = 4;
  if (names.size() > kMost) {
    names.resize(kMost);
    names.emplace_back("...");
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

/// What is wrong with a library under strict rules; empty for nothing.
std::string complaint_about(const Loaded& library, const ImportRules& rules) {
  std::string text;
  for (const FunctionClass each : {FunctionClass::Unserved, FunctionClass::Unknown}) {
    const std::vector<std::string> names = names_of(library.found, each, rules.allowed);
    if (names.empty()) continue;
    text += fmt::format("\n  {} imports, {}: {}", library.name(), name_of(each),
                        fmt::join(names, ", "));
  }
  return text;
}

}  // namespace

std::string unserved_text() {
  std::vector<std::string> libraries;
  std::vector<std::string> functions;
  for (const Loaded& library : loaded_libraries()) {
    const std::vector<std::string> names = names_of(library.found, FunctionClass::Unserved, {});
    if (!names.empty()) libraries.push_back(library.name());
    functions.insert(functions.end(), names.begin(), names.end());
  }
  if (functions.empty()) return {};
  std::sort(functions.begin(), functions.end());
  functions.erase(std::unique(functions.begin(), functions.end()), functions.end());
  return fmt::format("{} import{} what is not served: {}; `fermata inspect` lists it",
                     some_of(libraries), libraries.size() == 1 ? "s" : "", some_of(functions));
}

void check_loaded_libraries(const ImportRules& rules) {
  std::string complaints;
  for (const Loaded& library : loaded_libraries()) {
    require_no_old_versions(library.path, library.found);
    if (rules.strict) complaints += complaint_about(library, rules);
  }
  if (complaints.empty()) return;
  throw UsageError(
      "FERMATA_STRICT_POSIX: expected libraries whose functions are all served or known to need "
      "nothing of the world" +
      complaints);
}

}  // namespace fermata::sim::detail
