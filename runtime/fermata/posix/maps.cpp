// SPDX-License-Identifier: Apache-2.0
#include "fermata/posix/maps.hpp"

#include <algorithm>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::posix {

namespace {

std::uintptr_t address_of(const void* memory) noexcept {
  return reinterpret_cast<std::uintptr_t>(memory);
}

/// The system maps whole pages.
std::size_t in_pages(std::size_t size) noexcept {
  constexpr std::size_t kPage = 4096;
  return (size + kPage - 1) / kPage * kPage;
}

}  // namespace

// Never destroyed: memory is unmapped until the end of the program.
Maps& Maps::all() noexcept {
  static Maps* const all = new Maps;
  return *all;
}

void Maps::add(Owner owner, const void* begin, std::size_t size, File file) {
  FERMATA_ASSERT(file != nullptr);
  const std::uintptr_t first = address_of(begin);
  const std::uintptr_t end = first + in_pages(size);
  FERMATA_ASSERT(first < end);
  const std::lock_guard lock(mutex_);
  const std::vector<File> replaced = take(first, end);
  maps_.emplace(first, Map{end, owner, std::move(file)});
  count();
}

// Files are let go of when the lock is no longer held: they may ask for maps.
void Maps::cut(const void* begin, std::size_t size) {
  std::vector<File> taken;
  const std::lock_guard lock(mutex_);
  taken = take(address_of(begin), address_of(begin) + in_pages(size));
  count();
}

std::vector<Maps::File> Maps::take(std::uintptr_t begin, std::uintptr_t end) {
  std::vector<File> taken;
  auto at = maps_.lower_bound(begin);
  if (at != maps_.begin() && std::prev(at)->second.end > begin) --at;
  while (at != maps_.end() && at->first < end) {
    const std::uintptr_t first = at->first;
    Map map = std::move(at->second);
    at = maps_.erase(at);
    if (map.end > end) maps_.emplace(end, Map{map.end, map.owner, map.file});
    if (first < begin) maps_.emplace(first, Map{begin, map.owner, map.file});
    taken.push_back(std::move(map.file));
  }
  return taken;
}

void Maps::move(const void* from, std::size_t size, const void* to, std::size_t new_size) {
  const std::lock_guard lock(mutex_);
  auto at = maps_.upper_bound(address_of(from));
  const bool is_known = at != maps_.begin() && (--at)->second.end > address_of(from);
  if (!is_known) return;
  const Owner owner = at->second.owner;
  const File file = at->second.file;
  const std::vector<File> taken = take(address_of(from), address_of(from) + in_pages(size));
  const std::uintptr_t begin = address_of(to);
  const std::vector<File> replaced = take(begin, begin + in_pages(new_size));
  maps_.emplace(begin, Map{begin + in_pages(new_size), owner, file});
  count();
}

std::vector<Maps::File> Maps::files(const void* begin, std::size_t size) {
  const std::lock_guard lock(mutex_);
  const std::uintptr_t end = address_of(begin) + in_pages(size);
  std::vector<File> found;
  for (const auto& [first, map] : maps_) {
    const bool meets = first < end && map.end > address_of(begin);
    if (meets && map.file != nullptr) found.push_back(map.file);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

void Maps::let_go(Owner owner) {
  std::vector<File> files;
  const std::lock_guard lock(mutex_);
  for (auto& [begin, map] : maps_) {
    if (map.owner == owner) files.push_back(std::exchange(map.file, nullptr));
  }
}

void Maps::unmap(Owner owner) {
  const std::lock_guard lock(mutex_);
  for (auto at = maps_.begin(); at != maps_.end();) {
    if (at->second.owner != owner) {
      ++at;
      continue;
    }
    FERMATA_ASSERT(at->second.file == nullptr);
    os::kernel.munmap(reinterpret_cast<void*>(at->first), at->second.end - at->first);
    at = maps_.erase(at);
  }
  count();
}

}  // namespace fermata::posix
