// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/library_images.hpp"

#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/sanitizer.hpp"
#include "fermata/posix/foreign_code.hpp"
#include "fermata/posix/kernel.hpp"

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

// Before the program's own constructors, which may use a library.
[[gnu::constructor(102)]] void see_libraries_as_loaded() {
  if (posix::is_linked()) LibraryImages::instance().begin_run();
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
  std::vector<std::span<std::byte>> found;
  ::dl_iterate_phdr(
      [](dl_phdr_info* library, std::size_t, void* regions) {
        if (posix::is_foreign_library(library->dlpi_name)) {
          add_regions(*library, *static_cast<std::vector<std::span<std::byte>>*>(regions));
        }
        return 0;
      },
      &found);
  const std::vector<Region> before = std::exchange(regions_, {});
  size_ = 0;
  for (const std::span<std::byte> live : found) {
    const auto known = std::find_if(before.begin(), before.end(), [&](const Region& each) {
      return each.live.data() == live.data() && each.live.size() == live.size();
    });
    regions_.push_back(
        {live, known != before.end() ? known->pristine : std::vector(live.begin(), live.end())});
    size_ += live.size();
  }
}

void LibraryImages::begin_run() {
#if !defined(FERMATA_ASAN)
  FERMATA_ASSERT(current_ == &outside_);
  if (posix::find_foreign_code()) find_regions();
#endif
}

void LibraryImages::change_to(LibraryImage& image) {
  FERMATA_ASSERT(current_ != &image);
  if (size_ == 0) return;
  if (current_ != nullptr) save(current_->bytes_);
  if (image.bytes_.empty()) {
    load_pristine();
  } else {
    load(image.bytes_);
  }
  current_ = &image;
}

void LibraryImages::end_run() {
  if (current_ != &outside_) change_to(outside_);
}

void LibraryImages::save(std::vector<std::byte>& bytes) const {
  bytes.resize(size_);
  std::byte* to = bytes.data();
  for (const Region& each : regions_) {
    std::memcpy(to, each.live.data(), each.live.size());
    to += each.live.size();
  }
}

void LibraryImages::load(const std::vector<std::byte>& bytes) const {
  FERMATA_ASSERT(bytes.size() == size_);
  const std::byte* from = bytes.data();
  for (const Region& each : regions_) {
    std::memcpy(each.live.data(), from, each.live.size());
    from += each.live.size();
  }
}

void LibraryImages::load_pristine() const {
  for (const Region& each : regions_) {
    FERMATA_ASSERT(each.pristine.size() == each.live.size());
    std::memcpy(each.live.data(), each.pristine.data(), each.live.size());
  }
}

}  // namespace fermata::sim::detail
