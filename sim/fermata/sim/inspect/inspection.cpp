// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/inspect/inspection.hpp"

#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <string_view>

#include "fermata/base/error.hpp"
#include "fermata/posix/foreign_code.hpp"
#include "fermata/sim/inspect/elf_file.hpp"

namespace fermata::sim::detail {

namespace {

/// The libraries of the C library, up to their versions.
constexpr std::array<std::string_view, 9> kLibraries = {"ld-linux", "libanl.so",    "libc.so",
                                                        "libdl.so", "libm.so",      "libmvec.",
                                                        "librt.so", "libpthread.s", "libresolv."};

bool is_of_c_library(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return std::any_of(kLibraries.begin(), kLibraries.end(),
                     [&](std::string_view each) { return name.starts_with(each); });
}

int note_path(dl_phdr_info* library, std::size_t, void* paths) {
  if (is_of_c_library(library->dlpi_name)) {
    static_cast<std::vector<std::string>*>(paths)->emplace_back(library->dlpi_name);
  }
  return 0;
}

bool counts(const ImportedFunction& import) {
  if (import.name == "_ZNSt13random_device9_M_getvalEv") return true;  // The guard serves it.
  return import.version.empty() ? names_of_c_library().count(import.name) != 0
                                : is_of_c_library(import.library);
}

}  // namespace

const std::set<std::string>& names_of_c_library() {
  static const std::set<std::string> names = [] {
    std::vector<std::string> paths;
    ::dl_iterate_phdr(&note_path, &paths);
    std::set<std::string> found;
    for (const std::string& path : paths) {
      const std::vector<std::string> exports = read_elf_file(path).exports;
      found.insert(exports.begin(), exports.end());
    }
    return found;
  }();
  return names;
}

std::size_t Inspection::count(FunctionClass function_class) const noexcept {
  std::size_t count = 0;
  for (const auto& [kind, names] : of(function_class)) count += names.size();
  return count;
}

Inspection inspect(const std::string& path) {
  const ElfFile file = read_elf_file(path);
  Inspection found;
  found.variables = file.variables;
  for (const std::string& name : file.needed) {
    if (posix::is_foreign_library(name)) found.needed.push_back(name);
  }
  std::set<std::string> names;  // One may be imported in several versions.
  for (const ImportedFunction& import : file.imports) {
    if (!counts(import)) continue;
    names.insert(import.name);
    if (has_old_layout(import.name, import.version)) {
      found.old_versions.push_back(import.name + '@' + import.version);
    }
  }
  std::sort(found.old_versions.begin(), found.old_versions.end());
  for (const std::string& name : names) {
    const FunctionFacts facts = facts_of(name);
    found.functions[static_cast<std::size_t>(facts.function_class)][facts.kind].push_back(name);
  }
  return found;
}

void require_no_old_versions(const std::string& path, const Inspection& found) {
  if (found.old_versions.empty()) return;
  throw Error(fmt::format(
      "{} is refused: it imports {}, whose objects look different from those that are served; "
      "expected a file that was linked with glibc 2.3.2 or later",
      path, fmt::join(found.old_versions, ", ")));
}

}  // namespace fermata::sim::detail
