// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/fs/file_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "fermata/base/assert.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::sim {

std::unique_ptr<FileMemory> FileMemory::make(std::span<const std::byte> contents) {
  const int descriptor = ::memfd_create("file of a simulated machine", MFD_CLOEXEC);
  if (descriptor < 0) return nullptr;
  std::unique_ptr<FileMemory> made(new FileMemory(descriptor));
  if (!made->resize(contents.size())) return nullptr;
  made->write(0, contents);
  return made;
}

FileMemory::~FileMemory() {
  unmap();
  os::kernel.close(descriptor_);
}

void FileMemory::unmap() noexcept {
  if (view_ != nullptr) os::kernel.munmap(view_, size_);
  view_ = nullptr;
}

void FileMemory::write(std::uint64_t offset, std::span<const std::byte> bytes) noexcept {
  FERMATA_ASSERT(offset + bytes.size() <= size_);
  if (!bytes.empty()) std::memcpy(view_ + offset, bytes.data(), bytes.size());
}

// What programs have written behind the end, in its page, is not a part of the file.
bool FileMemory::resize(std::size_t size) noexcept {
  const std::size_t before = size_;
  if (size == before) return true;
  if (os::kernel.ftruncate(descriptor_, static_cast<off_t>(size)) != 0) return false;
  unmap();
  size_ = 0;
  if (size == 0) return true;
  void* const mapped =
      os::kernel.mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (mapped == MAP_FAILED) return false;
  view_ = static_cast<std::byte*>(mapped);
  size_ = size;
  if (size > before) {
    const std::size_t end = std::min(size, (before + kPage - 1) / kPage * kPage);
    std::memset(view_ + before, 0, end - before);
  }
  return true;
}

void FileMemory::compare(
    std::span<const std::byte> contents,
    fermata::detail::FunctionRef<void(std::uint64_t, std::span<const std::byte>)> changed) const {
  FERMATA_ASSERT(contents.size() == size_);
  if (!may_change_) return;
  for (std::size_t begin = 0; begin < size_; begin += kPage) {
    const std::span<const std::byte> page(view_ + begin, std::min(kPage, size_ - begin));
    const std::span<const std::byte> known = contents.subspan(begin, page.size());
    if (std::memcmp(page.data(), known.data(), page.size()) == 0) continue;
    const auto first = static_cast<std::size_t>(
        std::mismatch(page.begin(), page.end(), known.begin()).first - page.begin());
    const auto last = static_cast<std::size_t>(
        std::mismatch(page.rbegin(), page.rend(), known.rbegin()).first.base() - page.begin());
    FERMATA_ASSERT(first < last);
    changed(begin + first, page.subspan(first, last - first));
  }
}

}  // namespace fermata::sim
