// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a shared library or a program says of itself: what it imports, and from where. Read from its
// file, ELF for x86-64, without running any of it.

#include <cstdint>
#include <string>
#include <vector>

namespace fermata::sim::detail {

/// A function that another file is to define.
struct ImportedFunction {
  std::string name;
  /// "GLIBC_2.2.5", and the library whose version that is, "libc.so.6". Both are empty when the
  /// file names none.
  std::string version;
  std::string library;
};

struct ElfFile {
  /// Names of the libraries that it needs, in its own order.
  std::vector<std::string> needed;
  /// In the order of its table.
  std::vector<ImportedFunction> imports;
  /// Names of what it defines for others, in the order of its table.
  std::vector<std::string> exports;
  /// Size of its variables in bytes, those of a thread included.
  std::uint64_t variables = 0;
};

/// Throws Error, which names the file and says what was found and what was expected.
[[nodiscard]] ElfFile read_elf_file(const std::string& path);

}  // namespace fermata::sim::detail
