// SPDX-License-Identifier: Apache-2.0

// What a file says that it imports; and files that say nonsense.

#include "fermata/sim/inspect/elf_file.hpp"

#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "fermata/base/error.hpp"

namespace fermata::sim::detail {
namespace {

const std::string kImporter = FERMATA_TEST_IMPORTER;

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class ElfFileOf : public ::testing::Test {
 protected:
  ~ElfFileOf() override { std::remove(path_.c_str()); }

  /// What is said about a file with these bytes; empty when it can be read.
  std::string complaint(std::string_view bytes) {
    std::ofstream(path_, std::ios::binary) << bytes;
    try {
      static_cast<void>(read_elf_file(path_));
      return "";
    } catch (const Error& error) {
      const std::string_view text = error.what();
      EXPECT_EQ(text.find(path_), text.starts_with("cannot read") ? 12u : 0u) << text;
      return std::string(text.substr(std::min(text.size(), path_.size() + 1)));
    }
  }

  /// complaint() of the library with another `value` at `offset`.
  template <class T>
  std::string complaint_with(std::size_t offset, T value) {
    std::string bytes = bytes_of(kImporter);
    std::memcpy(bytes.data() + offset, &value, sizeof value);
    return complaint(bytes);
  }

  std::string path_ = ::testing::TempDir() + "fermata_elf_file_" +
                      ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

constexpr std::string_view kExpected =
    "; expected a shared library or a program, a 64-bit ELF file for x86-64";

TEST_F(ElfFileOf, ALibraryHasImportsWithVersionsAndTheirLibraries) {
  const ElfFile file = read_elf_file(kImporter);
  const auto read = std::find_if(file.imports.begin(), file.imports.end(),
                                 [](const ImportedFunction& each) { return each.name == "read"; });
  ASSERT_NE(read, file.imports.end());
  EXPECT_EQ(read->version, "GLIBC_2.2.5");
  EXPECT_EQ(read->library, "libc.so.6");
  EXPECT_EQ(std::count(file.exports.begin(), file.exports.end(), "fermata_test_import"), 1);
  EXPECT_EQ(std::count(file.needed.begin(), file.needed.end(), "libc.so.6"), 1);
}

TEST_F(ElfFileOf, AProgramIsReadAsWell) {
  const ElfFile file = read_elf_file("/proc/self/exe");
  EXPECT_FALSE(file.imports.empty());
  EXPECT_GT(file.variables, 0u);
}

TEST_F(ElfFileOf, WhatIsNoSuchFileIsRefusedByWhatItIs) {
  EXPECT_EQ(complaint(""), "is not an ELF file" + std::string(kExpected));
  EXPECT_EQ(complaint("#!/bin/sh\n"), "is not an ELF file" + std::string(kExpected));
  EXPECT_EQ(complaint(ELFMAG), "ends after 4 bytes" + std::string(kExpected));
  EXPECT_EQ(complaint_with(EI_CLASS, ELFCLASS32).substr(0, 12), "has class 1,");
  EXPECT_EQ(complaint_with(EI_DATA, ELFDATA2MSB).substr(0, 20), "is not little-endian");
  EXPECT_EQ(complaint_with(offsetof(Elf64_Ehdr, e_machine), Elf64_Half{EM_AARCH64}),
            "is for another machine, number 183" + std::string(kExpected));
  EXPECT_EQ(complaint_with(offsetof(Elf64_Ehdr, e_type), Elf64_Half{ET_REL}),
            "is an object file that has not been linked" + std::string(kExpected));
  EXPECT_EQ(complaint_with(offsetof(Elf64_Ehdr, e_type), Elf64_Half{ET_CORE}),
            "is an ELF file of type 4" + std::string(kExpected));
  EXPECT_EQ(complaint_with(offsetof(Elf64_Ehdr, e_shnum), Elf64_Half{0}),
            "has no table of sections; expected one with a table of dynamic symbols");
}

TEST_F(ElfFileOf, WhatIsNoFileIsRefused) {
  EXPECT_THROW(static_cast<void>(read_elf_file("/nowhere/libnothing.so")), Error);
  EXPECT_THROW(static_cast<void>(read_elf_file("/tmp")), Error);
  EXPECT_THROW(static_cast<void>(read_elf_file("/dev/zero")), Error);
}

TEST_F(ElfFileOf, ATableBehindTheEndIsDamage) {
  const std::string said = complaint_with(offsetof(Elf64_Ehdr, e_shoff), Elf64_Off{1} << 62);
  EXPECT_EQ(said.find("is damaged: the table of sections of "), 0u) << said;
  const std::string bytes = bytes_of(kImporter);
  EXPECT_EQ(complaint(std::string_view(bytes).substr(0, bytes.size() - 1)).find("is damaged: "),
            0u);
}

TEST_F(ElfFileOf, NoPartOfAFileIsTooDamagedToBeRead) {
  const std::string whole = bytes_of(kImporter);
  std::string bytes = whole;
  std::size_t refused = 0;
  for (std::size_t at = 0; at < bytes.size(); at += 1 + at / 64) {
    for (const char value : {'\0', '\xff'}) {
      bytes[at] = value;
      if (!complaint(bytes).empty()) ++refused;
    }
    bytes[at] = whole[at];
  }
  EXPECT_GT(refused, 0u);
}

}  // namespace
}  // namespace fermata::sim::detail
