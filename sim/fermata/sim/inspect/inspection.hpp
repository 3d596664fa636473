// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which functions of the C library a file imports, and what becomes of each in the simulated world.
//
// Whose        An import is the C library's when the file asks for it in a version of one of its
//              libraries, such as libc.so.6; or, where it asks for no version, when the C library
//              of this process has a function of that name. All others, such as those of the
//              libraries that it needs besides, do not count.
// Old versions An import whose objects look different from those that are served.
// Not seen     System calls without the C library, functions that are looked up by name, and
//              functions of the C library that the file has linked in.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "fermata/sim/inspect/function_class.hpp"

namespace fermata::sim::detail {

/// Names in alphabetical order, by what they are about, which is empty for unknown ones.
using FunctionsByKind = std::map<std::string_view, std::vector<std::string>>;

struct Inspection {
  std::array<FunctionsByKind, 4> functions;  // By FunctionClass.
  /// "pthread_cond_wait@GLIBC_2.2.5"; a file that has any cannot be served.
  std::vector<std::string> old_versions;
  /// The foreign libraries that it needs, in its own order.
  std::vector<std::string> needed;
  /// Size of its variables in bytes. Each simulated process has its own of a shared library.
  std::uint64_t variables = 0;

  [[nodiscard]] const FunctionsByKind& of(FunctionClass function_class) const noexcept {
    return functions[static_cast<std::size_t>(function_class)];
  }
  [[nodiscard]] std::size_t count(FunctionClass function_class) const noexcept;
};

/// Throws Error, which names the file, what was found and what was expected.
[[nodiscard]] Inspection inspect(const std::string& path);

/// What the C library of this process has, old names included.
[[nodiscard]] const std::set<std::string>& names_of_c_library();

/// Throws Error, which names them, when it has imports in old versions.
void require_no_old_versions(const std::string& path, const Inspection& found);

}  // namespace fermata::sim::detail
