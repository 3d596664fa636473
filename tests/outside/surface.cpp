// SPDX-License-Identifier: Apache-2.0

// Loads a library of the system into a program that links fermata::posix, and compares what
// `fermata inspect` says of each function that it imports with where the loader has bound it.
//
// usage: outside_surface LIBRARY
//
// Prints how many functions are of each class, and a line for each one that is bound elsewhere.
// Exits with 0 when there is none.

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <string>
#include <string_view>

#include "fermata/sim/inspect/inspection.hpp"

namespace {

using fermata::sim::detail::FunctionClass;

/// What the loader has written where a library calls each function that it imports, by name.
using Bindings = std::map<std::string, const void*>;

/// Tables of a loaded library, from its dynamic section.
class LoadedTables {
 public:
  explicit LoadedTables(const link_map& map) : map_(map) {
    for (const ElfW(Dyn)* entry = map.l_ld; entry->d_tag != DT_NULL; ++entry) {
      entries_[entry->d_tag] = entry->d_un.d_val;
    }
  }

  void add_bindings(Bindings& found) const {
    add_bindings(found, DT_JMPREL, DT_PLTRELSZ);
    add_bindings(found, DT_RELA, DT_RELASZ);
  }

 private:
  template <class Entry>
  [[nodiscard]] const Entry* table(ElfW(Sxword) tag) const {
    const auto found = entries_.find(tag);
    return found == entries_.end() ? nullptr : reinterpret_cast<const Entry*>(found->second);
  }

  void add_bindings(Bindings& found, ElfW(Sxword) tag, ElfW(Sxword) size_tag) const {
    const auto* const relocations = table<ElfW(Rela)>(tag);
    if (relocations == nullptr) return;
    const std::size_t count = entries_.at(size_tag) / sizeof(ElfW(Rela));
    const auto* const symbols = table<ElfW(Sym)>(DT_SYMTAB);
    const auto* const names = table<char>(DT_STRTAB);
    for (std::size_t i = 0; i < count; ++i) {
      const ElfW(Rela)& each = relocations[i];
      const auto type = ELF64_R_TYPE(each.r_info);
      const ElfW(Sym)& symbol = symbols[ELF64_R_SYM(each.r_info)];
      const bool is_slot = type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
      if (!is_slot || symbol.st_shndx != SHN_UNDEF) continue;
      const auto* const slot = reinterpret_cast<void* const*>(map_.l_addr + each.r_offset);
      found.emplace(names + symbol.st_name, *slot);
    }
  }

  const link_map& map_;
  std::map<ElfW(Sxword), ElfW(Xword)> entries_;
};

/// The file that has defined what is at an address.
std::string_view file_of(const void* address) {
  Dl_info found = {};
  return ::dladdr(address, &found) != 0 && found.dli_fname != nullptr ? found.dli_fname : "?";
}

/// How many functions of a class are not bound as it says.
int count_bound_elsewhere(const fermata::sim::detail::Inspection& inspection,
                          FunctionClass function_class, const Bindings& bindings,
                          std::string_view program) {
  const bool is_ours =
      function_class == FunctionClass::Served || function_class == FunctionClass::Unserved;
  int count = 0;
  for (const auto& [kind, functions] : inspection.of(function_class)) {
    for (const std::string& function : functions) {
      const auto bound = bindings.find(function);
      if (bound == bindings.end() || bound->second == nullptr) continue;
      const std::string_view file = file_of(bound->second);
      if ((file == program) == is_ours) continue;
      fmt::print("  {} is {}, but the loader has found it in {}\n", function,
                 fermata::sim::detail::name_of(function_class), file);
      ++count;
    }
  }
  return count;
}

int compare(const char* library) {
  void* const handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    fmt::print("  {}\n", ::dlerror());
    return 1;
  }
  link_map* map = nullptr;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) return 1;
  Bindings bindings;
  LoadedTables(*map).add_bindings(bindings);
  const auto inspection = fermata::sim::detail::inspect(map->l_name);
  const std::string_view program = file_of(reinterpret_cast<const void*>(&compare));
  int count = 0;
  for (const FunctionClass each : {FunctionClass::Served, FunctionClass::Passed,
                                   FunctionClass::Unserved, FunctionClass::Unknown}) {
    fmt::print("{} {}  ", inspection.count(each), fermata::sim::detail::name_of(each));
    count += count_bound_elsewhere(inspection, each, bindings, program);
  }
  fmt::print("\n");
  return count;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    fmt::print(stderr, "usage: outside_surface LIBRARY\n");
    return 2;
  }
  int failures = 1;
  try {
    failures = compare(arguments[1]);
  } catch (const std::exception& error) {
    fmt::print("  {}\n", error.what());
  }
  std::fflush(stdout);
  std::_Exit(failures == 0 ? 0 : 1);  // A library may have its own ideas of an end.
}
