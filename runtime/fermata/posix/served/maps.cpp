// SPDX-License-Identifier: Apache-2.0

// Files in memory. Memory without a file is the system's.

#include <sys/mman.h>

#include <cerrno>
#include <cstdarg>
#include <cstddef>

#include "fermata/posix/maps.hpp"
#include "fermata/posix/served/real.hpp"

using fermata::posix::answer;
using fermata::posix::Files;
using fermata::posix::files_for;
using fermata::posix::MapRequest;
using fermata::posix::Maps;

namespace {

Files* files_for_map(int flags, int descriptor, const void* caller) noexcept {
  return (flags & MAP_ANONYMOUS) != 0 || descriptor < 0 ? nullptr : files_for(caller);
}

void* map(Files& files, const MapRequest& request) {
  void* mapped = MAP_FAILED;
  if (answer(files.map(request, mapped)) < 0) return MAP_FAILED;
  return mapped;
}

/// Memory of the system's takes the place of what was there.
void* noted(void* mapped, size_t size, int flags) {
  const bool replaces = mapped != MAP_FAILED && (flags & MAP_FIXED) != 0;
  if (replaces && !Maps::all().is_empty()) Maps::all().cut(mapped, size);
  return mapped;
}

}  // namespace

extern "C" {

void* mmap(void* address, size_t size, int protection, int flags, int descriptor,
           off_t offset) noexcept {
  Files* const files = files_for_map(flags, descriptor, __builtin_return_address(0));
  if (files != nullptr) {
    return map(*files, {address, size, protection, flags, descriptor, offset});
  }
  return noted(FERMATA_REAL(mmap)(address, size, protection, flags, descriptor, offset), size,
               flags);
}

void* mmap64(void* address, size_t size, int protection, int flags, int descriptor,
             off64_t offset) noexcept {
  Files* const files = files_for_map(flags, descriptor, __builtin_return_address(0));
  if (files != nullptr) {
    return map(*files, {address, size, protection, flags, descriptor, offset});
  }
  return noted(FERMATA_REAL(mmap64)(address, size, protection, flags, descriptor, offset), size,
               flags);
}

int munmap(void* address, size_t size) noexcept {
  const int result = FERMATA_REAL(munmap)(address, size);
  if (result == 0 && !Maps::all().is_empty()) Maps::all().cut(address, size);
  return result;
}

void* mremap(void* address, size_t size, size_t new_size, int flags, ...) noexcept {
  va_list target_behind;
  va_start(target_behind, flags);
  void* const target = va_arg(target_behind, void*);
  va_end(target_behind);
  void* const moved = FERMATA_REAL(mremap)(address, size, new_size, flags, target);
  if (moved != MAP_FAILED && !Maps::all().is_empty()) {
    Maps::all().move(address, size, moved, new_size);
  }
  return moved;
}

int msync(void* address, size_t size, int flags) {
  const int result = FERMATA_REAL(msync)(address, size, flags);
  if (result != 0 || (flags & MS_SYNC) == 0 || Maps::all().is_empty()) return result;
  Files* const files = files_for(__builtin_return_address(0));
  return files == nullptr ? result : answer(files->sync_maps(address, size));
}

}  // extern "C"
