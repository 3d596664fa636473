// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/inspect/elf_file.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string_view>
#include <type_traits>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"

namespace fermata::sim::detail {

namespace {

constexpr std::string_view kExpected =
    "expected a shared library or a program, a 64-bit ELF file for x86-64";
constexpr std::uint64_t kPage = 4'096;

std::string read_bytes(const std::string& path) {
  std::error_code unknown;
  const auto status = std::filesystem::status(path, unknown);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw Error(fmt::format("{} is a {}; {}", path,
                            std::filesystem::is_directory(status) ? "folder" : "device or a pipe",
                            kExpected));
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || file.bad()) {
    throw Error(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  }
  return bytes;
}

/// A part of a file, which is never read beyond its end.
class Part {
 public:
  Part(const std::string& path, std::string what, std::string_view bytes)
      : path_(&path), what_(std::move(what)), bytes_(bytes) {}

  [[nodiscard]] std::uint64_t size() const noexcept { return bytes_.size(); }
  [[nodiscard]] std::string_view bytes() const noexcept { return bytes_; }

  [[nodiscard]] Part part(std::string what, std::uint64_t offset, std::uint64_t size) const {
    require(what, offset, size);
    return {*path_, std::move(what), bytes_.substr(offset, size)};
  }

  template <class T>
  [[nodiscard]] T read(std::uint64_t offset) const {
    static_assert(std::is_trivially_copyable_v<T>);
    require("an entry", offset, sizeof(T));
    T value;
    FERMATA_ASSERT(offset + sizeof value <= bytes_.size());
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }

  /// The text that begins there, without the zero behind it.
  [[nodiscard]] std::string text(std::uint64_t offset) const {
    const std::size_t end = offset < size() ? bytes_.find('\0', offset) : std::string_view::npos;
    if (end == std::string_view::npos) {
      damaged(fmt::format("no text at {} in {} of {} bytes", offset, what_, size()));
    }
    FERMATA_ASSERT(end >= offset);
    return std::string(bytes_.substr(offset, end - offset));
  }

  [[noreturn]] void damaged(const std::string& why) const {
    throw Error(fmt::format("{} is damaged: {}", *path_, why));
  }

 private:
  void require(std::string_view what, std::uint64_t offset, std::uint64_t size) const {
    if (offset <= bytes_.size() && size <= bytes_.size() - offset) return;
    damaged(fmt::format("{} of {} bytes at {} is not within {} of {} bytes", what, size, offset,
                        what_, bytes_.size()));
  }

  const std::string* path_;
  std::string what_;
  std::string_view bytes_;
};

Elf64_Ehdr read_header(const std::string& path, const Part& file) {
  const auto refuse = [&](const std::string& found) {
    throw Error(fmt::format("{} {}; {}", path, found, kExpected));
  };
  if (!file.bytes().starts_with(ELFMAG)) refuse("is not an ELF file");
  if (file.size() < sizeof(Elf64_Ehdr)) refuse(fmt::format("ends after {} bytes", file.size()));
  const auto header = file.read<Elf64_Ehdr>(0);
  if (header.e_ident[EI_CLASS] != ELFCLASS64) {
    refuse(fmt::format("has class {}, which is not 64-bit", header.e_ident[EI_CLASS]));
  }
  if (header.e_ident[EI_DATA] != ELFDATA2LSB) refuse("is not little-endian");
  if (header.e_machine != EM_X86_64) {
    refuse(fmt::format("is for another machine, number {}", header.e_machine));
  }
  if (header.e_type == ET_REL) refuse("is an object file that has not been linked");
  if (header.e_type != ET_DYN && header.e_type != ET_EXEC) {
    refuse(fmt::format("is an ELF file of type {}", header.e_type));
  }
  return header;
}

/// The tables of a file, and what stands in them.
class Reader {
 public:
  Reader(const std::string& path, std::string_view bytes)
      : path_(path), file_(path, "the file", bytes), header_(read_header(path, file_)) {}

  [[nodiscard]] ElfFile read() {
    read_sections();
    read_versions();
    read_symbols();
    read_needed();
    read_variables();
    return std::move(found_);
  }

 private:
  struct Version {
    std::string name;
    std::string library;
  };

  void read_sections() {
    if (header_.e_shentsize != sizeof(Elf64_Shdr) || header_.e_shnum == 0) {
      throw Error(
          fmt::format("{} has no table of sections; expected one with a table of dynamic "
                      "symbols",
                      path_));
    }
    const Part table = file_.part("the table of sections", header_.e_shoff,
                                  std::uint64_t{header_.e_shnum} * sizeof(Elf64_Shdr));
    for (std::uint64_t at = 0; at < table.size(); at += sizeof(Elf64_Shdr)) {
      sections_.push_back(table.read<Elf64_Shdr>(at));
    }
  }

  /// Null: there is none of this type.
  [[nodiscard]] const Elf64_Shdr* section(std::uint32_t type) const {
    const auto found = std::find_if(sections_.begin(), sections_.end(),
                                    [&](const Elf64_Shdr& each) { return each.sh_type == type; });
    return found == sections_.end() ? nullptr : &*found;
  }

  [[nodiscard]] Part contents(const Elf64_Shdr& section, std::string what) const {
    return file_.part(std::move(what), section.sh_offset, section.sh_size);
  }

  /// The texts that the entries of a section refer to.
  [[nodiscard]] Part texts_of(const Elf64_Shdr& section) const {
    if (section.sh_link >= sections_.size()) {
      file_.damaged(
          fmt::format("a section refers to section {} of {}", section.sh_link, sections_.size()));
    }
    FERMATA_ASSERT(section.sh_link < sections_.size());
    return contents(sections_[section.sh_link], "a table of names");
  }

  void read_versions() {
    const Elf64_Shdr* const section = this->section(SHT_GNU_verneed);
    if (section == nullptr) return;
    const Part table = contents(*section, "the table of versions");
    const Part texts = texts_of(*section);
    std::uint64_t at = 0;
    for (std::uint32_t i = 0; i < section->sh_info; ++i) {
      const auto need = table.read<Elf64_Verneed>(at);
      read_versions_of(need, table, texts, at);
      if (need.vn_next == 0) return;
      require_forward(need.vn_next, sizeof need);
      at += need.vn_next;
    }
  }

  void read_versions_of(const Elf64_Verneed& need, const Part& table, const Part& texts,
                        std::uint64_t at) {
    const std::string library = texts.text(need.vn_file);
    at += need.vn_aux;
    for (std::uint16_t i = 0; i < need.vn_cnt; ++i) {
      const auto version = table.read<Elf64_Vernaux>(at);
      const bool is_new =
          versions_.try_emplace(version.vna_other, Version{texts.text(version.vna_name), library})
              .second;
      if (!is_new) file_.damaged(fmt::format("two versions have number {}", version.vna_other));
      if (version.vna_next == 0) return;
      require_forward(version.vna_next, sizeof version);
      at += version.vna_next;
    }
  }

  void require_forward(std::uint64_t step, std::uint64_t entry) const {
    if (step >= entry) return;
    file_.damaged(
        fmt::format("an entry of {} bytes of the table of versions is followed by one "
                    "{} bytes behind its begin",
                    entry, step));
  }

  void read_symbols() {
    const Elf64_Shdr* const section = this->section(SHT_DYNSYM);
    if (section == nullptr) {
      throw Error(
          fmt::format("{} has no table of dynamic symbols, as what is linked statically; "
                      "expected one that is linked dynamically",
                      path_));
    }
    const Part table = contents(*section, "the table of symbols");
    const Part texts = texts_of(*section);
    const Elf64_Shdr* const numbers = this->section(SHT_GNU_versym);
    const std::uint64_t count = table.size() / sizeof(Elf64_Sym);
    for (std::uint64_t i = 1; i < count; ++i) {
      const auto symbol = table.read<Elf64_Sym>(i * sizeof(Elf64_Sym));
      std::string name = texts.text(symbol.st_name);
      if (symbol.st_shndx != SHN_UNDEF) {
        found_.exports.push_back(std::move(name));
      } else if (is_function(symbol)) {
        add_import(std::move(name), numbers == nullptr ? 0 : version_number(*numbers, i));
      }
    }
  }

  /// What is to be defined by others need not say what it is.
  [[nodiscard]] static bool is_function(const Elf64_Sym& symbol) noexcept {
    const int type = ELF64_ST_TYPE(symbol.st_info);
    return type == STT_FUNC || type == STT_NOTYPE || type == STT_GNU_IFUNC;
  }

  [[nodiscard]] std::uint16_t version_number(const Elf64_Shdr& numbers, std::uint64_t index) const {
    constexpr std::uint16_t kHidden = 0x8000;
    const Part table = contents(numbers, "the table of version numbers");
    const auto number = table.read<std::uint16_t>(index * sizeof(std::uint16_t));
    return static_cast<std::uint16_t>(number & ~kHidden);
  }

  void add_import(std::string name, std::uint16_t number) {
    const auto version = versions_.find(number);
    const bool has_one = number > VER_NDX_GLOBAL && version != versions_.end();
    found_.imports.push_back({.name = std::move(name),
                              .version = has_one ? version->second.name : "",
                              .library = has_one ? version->second.library : ""});
  }

  void read_needed() {
    const Elf64_Shdr* const section = this->section(SHT_DYNAMIC);
    if (section == nullptr) return;
    const Part table = contents(*section, "the dynamic section");
    const Part texts = texts_of(*section);
    for (std::uint64_t at = 0; at + sizeof(Elf64_Dyn) <= table.size(); at += sizeof(Elf64_Dyn)) {
      const auto entry = table.read<Elf64_Dyn>(at);
      if (entry.d_tag == DT_NULL) return;
      if (entry.d_tag == DT_NEEDED) found_.needed.push_back(texts.text(entry.d_un.d_val));
    }
  }

  // Those that the loader closes after relocation are none.
  void read_variables() {
    if (header_.e_phentsize != sizeof(Elf64_Phdr)) return;
    const Part table = file_.part("the table of segments", header_.e_phoff,
                                  std::uint64_t{header_.e_phnum} * sizeof(Elf64_Phdr));
    std::uint64_t closed = 0;
    for (std::uint64_t at = 0; at < table.size(); at += sizeof(Elf64_Phdr)) {
      const auto segment = table.read<Elf64_Phdr>(at);
      const bool is_written = segment.p_type == PT_LOAD && (segment.p_flags & PF_W) != 0;
      if (is_written || segment.p_type == PT_TLS) found_.variables += segment.p_memsz;
      if (segment.p_type != PT_GNU_RELRO) continue;
      const std::uint64_t end = (segment.p_vaddr + segment.p_memsz) / kPage * kPage;
      closed += std::max(end, segment.p_vaddr) - segment.p_vaddr;
    }
    found_.variables -= std::min(closed, found_.variables);
  }

  const std::string& path_;
  Part file_;
  Elf64_Ehdr header_;
  std::vector<Elf64_Shdr> sections_;
  std::map<std::uint16_t, Version> versions_;
  ElfFile found_;
};

}  // namespace

ElfFile read_elf_file(const std::string& path) {
  const std::string bytes = read_bytes(path);
  return Reader(path, bytes).read();
}

}  // namespace fermata::sim::detail
