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

}  // namespace

bool is_foreign_library(std::string_view path) noexcept {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const bool is_library = name.find(".so") != std::string_view::npos;
  return is_library && std::none_of(kOwn.begin(), kOwn.end(),
                                    [&](std::string_view own) { return name.starts_with(own); });
}

bool is_foreign_code(const void* address) noexcept {
  Dl_info found = {};
  return ::dladdr(address, &found) != 0 && found.dli_fname != nullptr &&
         is_foreign_library(found.dli_fname);
}

}  // namespace fermata::posix
