// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/library_images.hpp"

#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "fermata/base/assert.hpp"
#include "fermata/base/sanitizer.hpp"
#include "fermata/posix/foreign_code.hpp"

namespace fermata::sim::detail {

namespace {

std::span<std::byte> bytes_at(std::uintptr_t begin, std::uintptr_t end) noexcept {
  return {reinterpret_cast<std::byte*>(begin), end - begin};
}

/// Adds what can be written of the library, without the part that is closed after relocation.
void add_regions(const dl_phdr_info& library, std::vector<std::span<std::byte>>& regions) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const std::span headers(library.dlpi_phdr, library.dlpi_phnum);
  std::uintptr_t closed_to = 0;
  for (const auto& header : headers) {
    if (header.p_type != PT_GNU_RELRO) continue;
    closed_to = (library.dlpi_addr + header.p_vaddr + header.p_memsz) / page * page;
  }
  for (const auto& header : headers) {
    const bool is_written = header.p_type == PT_LOAD && (header.p_flags & PF_W) != 0;
    if (is_written) {
      const std::uintptr_t begin = library.dlpi_addr + header.p_vaddr;
      const std::uintptr_t end = begin + header.p_memsz;
      if (std::max(begin, closed_to) < end) {
        regions.push_back(bytes_at(std::max(begin, closed_to), end));
      }
    } else if (header.p_type == PT_TLS && library.dlpi_tls_data != nullptr) {
      const auto begin = reinterpret_cast<std::uintptr_t>(library.dlpi_tls_data);
      regions.push_back(bytes_at(begin, begin + header.p_memsz));
    }
  }
}

}  // namespace

void LibraryImage::forget() noexcept {
  bytes_.clear();
  LibraryImages& images = LibraryImages::instance();
  if (images.current_ == this) images.current_ = nullptr;
}

LibraryImages& LibraryImages::instance() {
  static auto* const images = new LibraryImages;
  return *images;
}

void LibraryImages::find_regions() {
  regions_.clear();
  ::dl_iterate_phdr(
      [](dl_phdr_info* library, std::size_t, void* found) {
        if (posix::is_foreign_library(library->dlpi_name)) {
          add_regions(*library, *static_cast<std::vector<std::span<std::byte>>*>(found));
        }
        return 0;
      },
      &regions_);
  size_ = 0;
  for (const Region& each : regions_) size_ += each.size();
}

void LibraryImages::begin_run() {
#if !defined(FERMATA_ASAN)
  FERMATA_ASSERT(current_ == &outside_);
  if (!posix::find_foreign_code()) return;
  find_regions();
  save(pristine_);
#endif
}

void LibraryImages::change_to(LibraryImage& image) {
  if (size_ == 0) return;
  if (current_ != nullptr) save(current_->bytes_);
  load(image.bytes_.empty() ? pristine_ : image.bytes_);
  current_ = &image;
}

void LibraryImages::end_run() {
  if (current_ != &outside_) change_to(outside_);
}

void LibraryImages::save(std::vector<std::byte>& bytes) const {
  bytes.resize(size_);
  std::byte* to = bytes.data();
  for (const Region& each : regions_) {
    std::memcpy(to, each.data(), each.size());
    to += each.size();
  }
}

void LibraryImages::load(const std::vector<std::byte>& bytes) const {
  FERMATA_ASSERT(bytes.size() == size_);
  const std::byte* from = bytes.data();
  for (const Region& each : regions_) {
    std::memcpy(each.data(), from, each.size());
    from += each.size();
  }
}

}  // namespace fermata::sim::detail
