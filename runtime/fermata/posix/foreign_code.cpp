// SPDX-License-Identifier: Apache-2.0
#include "fermata/posix/foreign_code.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>

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

}  // namespace

bool is_foreign_library(std::string_view path) noexcept {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return is_library(name) && std::none_of(kOwn.begin(), kOwn.end(), [&](std::string_view own) {
           return name.starts_with(own);
         });
}

bool is_foreign_code(const void* address) noexcept { return is_foreign_library(file_of(address)); }

bool is_system_code(const void* address) noexcept {
  const std::string_view file = file_of(address);
  const std::string_view name = file.substr(file.rfind('/') + 1);
  return is_library(name) && !is_foreign_library(file);
}

}  // namespace fermata::posix
