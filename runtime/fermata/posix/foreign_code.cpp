// SPDX-License-Identifier: Apache-2.0
#include "fermata/posix/foreign_code.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "fermata/base/assert.hpp"

namespace fermata::posix {

namespace {

/// Beginnings of the names of libraries that are not foreign.
constexpr std::array<std::string_view, 19> kOwn = {
    "ld-linux", "libc.so", "libm.so",    "libdl.so",  "libpthread.so", "librt.so", "libresolv",
    "libnss_",  "libc++",  "libstdc++.", "libgcc_s",  "libasan",       "libubsan", "libtsan",
    "libclang", "libfmt.", "libgtest",   "libboost_", "linux-vdso",
};

bool is_library(std::string_view path) noexcept {
  return path.find(".so") != std::string_view::npos;
}

/// The file that `address` was loaded from; empty when it is not known.
std::string_view file_of(const void* address) noexcept {
  Dl_info found = {};
  const bool known = ::dladdr(address, &found) != 0 && found.dli_fname != nullptr;
  return known ? found.dli_fname : std::string_view();
}

struct Range {
  std::uintptr_t begin;
  std::uintptr_t end;
};

constexpr std::size_t kMostRanges = 128;

/// The instructions of foreign libraries, and how many libraries had been loaded when it was made.
struct Known {
  std::array<Range, kMostRanges> ranges;
  std::size_t count = 0;
  unsigned long long loaded = 0;
};
constinit Known known = {};

int note_loaded(dl_phdr_info* library, std::size_t, void* loaded) noexcept {
  *static_cast<unsigned long long*>(loaded) = library->dlpi_adds;
  return 1;
}

int note_code(dl_phdr_info* library, std::size_t, void*) noexcept {
  if (!is_foreign_library(library->dlpi_name)) return 0;
  for (const auto& header : std::span(library->dlpi_phdr, library->dlpi_phnum)) {
    if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
    if (known.count == kMostRanges) return 1;
    const std::uintptr_t begin = library->dlpi_addr + header.p_vaddr;
    FERMATA_ASSERT(begin + header.p_memsz >= begin);
    known.ranges[known.count++] = {begin, begin + header.p_memsz};
  }
  return 0;
}

}  // namespace

bool find_foreign_code() noexcept {
  unsigned long long loaded = 0;
  ::dl_iterate_phdr(&note_loaded, &loaded);
  if (loaded == known.loaded) return false;
  known.loaded = loaded;
  known.count = 0;
  ::dl_iterate_phdr(&note_code, nullptr);
  FERMATA_ASSERT(known.count <= kMostRanges);
  return true;
}

bool is_known_foreign_code(const void* address) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return std::any_of(known.ranges.begin(), known.ranges.begin() + known.count,
                     [&](const Range& each) { return at - each.begin < each.end - each.begin; });
}

bool is_foreign_library(std::string_view path) noexcept {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return is_library(name) && std::none_of(kOwn.begin(), kOwn.end(), [&](std::string_view own) {
           return name.starts_with(own);
         });
}

bool is_foreign_code(const void* address) noexcept { return is_foreign_library(file_of(address)); }

bool is_system_library(std::string_view path) noexcept {
  return is_library(path.substr(path.rfind('/') + 1)) && !is_foreign_library(path);
}

bool is_system_code(const void* address) noexcept { return is_system_library(file_of(address)); }

}  // namespace fermata::posix
