// SPDX-License-Identifier: Apache-2.0
#include "fermata/posix/served/real.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>

#include "fermata/posix/foreign_code.hpp"
#include "fermata/posix/kernel.hpp"
#include "fermata/posix/served/ends.hpp"
#include "fermata/posix/served/system_table.hpp"

extern "C" {
// Ours, and those of clang's sanitizers, which stand in the program as well. As data: their types
// are of no interest here.
#define FERMATA_ROW(kind, name)                    \
  extern const char fermata_own_##name asm(#name); \
  extern const char fermata_interceptor_##name [[gnu::weak]] asm("__interceptor_" #name);
FERMATA_FUNCTIONS(FERMATA_ROW)
FERMATA_UNSERVED_FUNCTIONS(FERMATA_ROW)
#undef FERMATA_ROW
}

namespace fermata::posix {

namespace {

struct Row {
  const char* name;
  const void* own;
  const void* interceptor;
};

constexpr std::array<Row, static_cast<std::size_t>(Function::kCount)> kRows = {{
#define FERMATA_ROW(kind, name) Row{#name, &fermata_own_##name, &fermata_interceptor_##name},
    FERMATA_FUNCTIONS(FERMATA_ROW) FERMATA_UNSERVED_FUNCTIONS(FERMATA_ROW)
#undef FERMATA_ROW
}};

[[noreturn]] void give_up(const char* text, const char* name) noexcept {
  std::fprintf(stderr, "fermata: %s: %s\n", name, text);
  std::abort();
}

void* look_for(const Row& row) noexcept {
  if (row.interceptor != nullptr) return const_cast<void*>(row.interceptor);
  if (void* const next = ::dlsym(RTLD_NEXT, row.name)) return next;
  // What only old programs call has no version by default.
  if (void* const old = ::dlvsym(RTLD_NEXT, row.name, "GLIBC_2.2.5")) return old;
  if (void* const old = ::dlvsym(RTLD_NEXT, row.name, "GLIBC_2.4")) return old;
  give_up("the C library has no such function", row.name);
}

/// Libraries must find the program's functions, whoever loads them later.
void require_own(const Row& row) noexcept {
  if (::dlsym(RTLD_DEFAULT, row.name) == row.own) return;
  give_up(
      "libraries do not find the definition of fermata::posix: is the program linked with "
      "--exclude-libs, with a version script or against a static C library, or does something that "
      "is loaded before it define the function as well?",
      row.name);
}

/// Where the instructions of a library are.
struct Range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;

  [[nodiscard]] bool has(const void* address) const noexcept {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    return at >= begin && at < end;
  }
};

/// Libraries that are not foreign, but for the C++ library.
constexpr std::size_t kMostOwn = 64;
constinit std::array<Range, kMostOwn> own_libraries;
constinit std::size_t own_library_count = 0;
constinit Range cpp_library;
constinit Range unwinder;

int note_own_library(dl_phdr_info* library, std::size_t, void*) {
  const std::string_view path(library->dlpi_name);
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (!is_system_library(path)) return 0;
  for (const auto& header : std::span(library->dlpi_phdr, library->dlpi_phnum)) {
    if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
    const std::uintptr_t begin = library->dlpi_addr + header.p_vaddr;
    const Range code = {begin, begin + header.p_memsz};
    if (name.starts_with("libstdc++.") || name.starts_with("libc++.")) {
      cpp_library = code;
      continue;
    }
    if (name.starts_with("libgcc_s.")) unwinder = code;
    if (own_library_count < kMostOwn) own_libraries[own_library_count++] = code;
  }
  return 0;
}

// Before the program's own constructors, and before anything runs on the stack of a coroutine.
[[gnu::constructor(101)]] void start() {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    static_cast<void>(find_real(static_cast<Function>(i)));
    require_own(kRows[i]);
  }
  ::dl_iterate_phdr(&note_own_library, nullptr);
  fill_system_table();
  watch_terminate();
  detail::set_linked();
}

}  // namespace

namespace detail {

constinit std::array<std::atomic<void*>, kRows.size()> real_functions = {};

Kernel* serving_from(const void* from) noexcept {
  caller = from;
  const bool serves_all = serving->extent() == Kernel::Extent::Machine;
  return serves_all || !is_compilers(from) ? serving : nullptr;
}

bool is_cpp_library(const void* from) noexcept { return cpp_library.has(from); }

bool is_compilers(const void* from) noexcept { return is_cpp_library(from) || unwinder.has(from); }

Files* files_from(const void* from) noexcept {
  caller = from;
  const auto* const end = own_libraries.cbegin() + own_library_count;
  const bool is_own = std::any_of(own_libraries.cbegin(), end,
                                  [from](const Range& each) { return each.has(from); });
  return is_own ? nullptr : serving->files();
}

void* look_up(Function function) noexcept {
  const auto index = static_cast<std::size_t>(function);
  void* const looked_up = look_for(kRows[index]);
  real_functions[index].store(looked_up, std::memory_order_relaxed);
  return looked_up;
}

}  // namespace detail

}  // namespace fermata::posix
