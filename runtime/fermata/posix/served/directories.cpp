// SPDX-License-Identifier: Apache-2.0

// Streams of directories. One that was opened by simulated code is an object of ours, told from one
// of the C library by what it begins with: there the C library has a descriptor, which is not
// negative.

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/posix/served/process_memory.hpp"
#include "fermata/posix/served/served_file.hpp"

using fermata::posix::allocate_for_process;
using fermata::posix::answer;
using fermata::posix::at;
using fermata::posix::Files;
using fermata::posix::files_for;
using fermata::posix::free_of_process;
using fermata::posix::serving;

namespace {

constexpr int kMark = -0x46e2'3a7a;
constexpr std::size_t kRoom = 4096;

/// What a DIR is.
struct Directory {
  int mark = kMark;
  int descriptor = -1;
  std::size_t next = 0;  // In what was read.
  std::size_t read = 0;
  long position = 0;  // Where the next entry stands.
  alignas(dirent64) std::array<std::byte, kRoom> entries{};
};

Directory* ours(DIR* stream) noexcept {
  int mark = 0;
  if (stream != nullptr) std::memcpy(&mark, static_cast<void*>(stream), sizeof mark);
  return mark == kMark ? reinterpret_cast<Directory*>(stream) : nullptr;
}

DIR* open_stream(int descriptor) {
  FERMATA_ASSERT(descriptor >= 0);
  void* const memory = allocate_for_process(sizeof(Directory));
  if (memory == nullptr) return nullptr;
  auto* const opened = new (memory) Directory;
  opened->descriptor = descriptor;
  return reinterpret_cast<DIR*>(opened);
}

DIR* open_directory(Files& files, const char* path) {
  const int descriptor = answer(files.open_directory(at(path)));
  if (descriptor < 0) return nullptr;
  DIR* const opened = open_stream(descriptor);
  if (opened == nullptr) static_cast<void>(serving->close(descriptor));
  return opened;
}

dirent64* next_entry(Directory& stream) {
  if (serving == nullptr || serving->files() == nullptr) {
    errno = EBADF;
    return nullptr;
  }
  FERMATA_ASSERT(stream.next <= stream.read);
  if (stream.next == stream.read) {
    const ssize_t read = serving->files()->read_directory(stream.descriptor, stream.entries);
    if (read < 0 && read != -ENOENT) errno = static_cast<int>(-read);
    if (read <= 0) return nullptr;
    stream.read = static_cast<std::size_t>(read);
    stream.next = 0;
  }
  auto* const entry = reinterpret_cast<dirent64*>(stream.entries.data() + stream.next);
  FERMATA_ASSERT(entry->d_reclen > 0);
  stream.next += entry->d_reclen;
  stream.position = entry->d_off;
  return entry;
}

void seek(Directory& stream, long position) {
  FERMATA_ASSERT(stream.mark == kMark);
  stream.next = stream.read = 0;
  stream.position = position;
  if (serving == nullptr || serving->files() == nullptr) return;
  static_cast<void>(serving->files()->seek(stream.descriptor, position, SEEK_SET));
}

template <class Entry>
void free_entries(std::vector<Entry*>& entries) noexcept {
  for (Entry* const each : entries) free_of_process(each);
}

template <class Entry>
int scan(Files& files, const char* path, Entry*** list, int (*selects)(const Entry*),
         int (*compare)(const Entry**, const Entry**)) {
  DIR* const stream = open_directory(files, path);
  if (stream == nullptr) return -1;
  std::vector<Entry*> found;
  while (dirent64* const entry = next_entry(*ours(stream))) {
    auto* const shown = reinterpret_cast<Entry*>(entry);
    if (selects != nullptr && selects(shown) == 0) continue;
    void* const copy = allocate_for_process(entry->d_reclen);
    if (copy == nullptr) break;
    std::memcpy(copy, entry, entry->d_reclen);
    found.push_back(static_cast<Entry*>(copy));
  }
  ::closedir(stream);
  auto** const all = static_cast<Entry**>(
      allocate_for_process(std::max<std::size_t>(found.size(), 1) * sizeof(Entry*)));
  if (all == nullptr) {
    free_entries(found);
    return -1;
  }
  if (compare != nullptr) {
    std::stable_sort(found.begin(), found.end(),
                     [compare](const Entry* a, const Entry* b) { return compare(&a, &b) < 0; });
  }
  std::copy(found.begin(), found.end(), all);
  *list = all;
  return static_cast<int>(found.size());
}

}  // namespace

extern "C" {

DIR* opendir(const char* path) {
  Files* const files = files_for(__builtin_return_address(0));
  return files == nullptr ? FERMATA_REAL(opendir)(path) : open_directory(*files, path);
}

DIR* fdopendir(int descriptor) {
  Files* const files = files_for(__builtin_return_address(0));
  if (files == nullptr) return FERMATA_REAL(fdopendir)(descriptor);
  struct stat status = {};
  if (answer(serving->fstat(descriptor, status)) < 0) return nullptr;
  if (!S_ISDIR(status.st_mode)) {
    errno = ENOTDIR;
    return nullptr;
  }
  return open_stream(descriptor);
}

dirent64* readdir64(DIR* stream) {
  Directory* const own = ours(stream);
  return own == nullptr ? FERMATA_REAL(readdir64)(stream) : next_entry(*own);
}

dirent* readdir(DIR* stream) {
  static_assert(sizeof(dirent) == sizeof(dirent64));
  Directory* const own = ours(stream);
  return own == nullptr ? FERMATA_REAL(readdir)(stream)
                        : reinterpret_cast<dirent*>(next_entry(*own));
}

int closedir(DIR* stream) {
  Directory* const own = ours(stream);
  if (own == nullptr) return FERMATA_REAL(closedir)(stream);
  const int descriptor = own->descriptor;
  free_of_process(own);
  return serving == nullptr ? 0 : answer(serving->close(descriptor));
}

void rewinddir(DIR* stream) noexcept {
  Directory* const own = ours(stream);
  return own == nullptr ? FERMATA_REAL(rewinddir)(stream) : seek(*own, 0);
}

long telldir(DIR* stream) noexcept {
  const Directory* const own = ours(stream);
  return own == nullptr ? FERMATA_REAL(telldir)(stream) : own->position;
}

void seekdir(DIR* stream, long position) noexcept {
  Directory* const own = ours(stream);
  return own == nullptr ? FERMATA_REAL(seekdir)(stream, position) : seek(*own, position);
}

int dirfd(DIR* stream) noexcept {
  const Directory* const own = ours(stream);
  return own == nullptr ? FERMATA_REAL(dirfd)(stream) : own->descriptor;
}

int scandir(const char* path, dirent*** list, int (*selects)(const dirent*),
            int (*compare)(const dirent**, const dirent**)) {
  Files* const files = files_for(__builtin_return_address(0));
  return files == nullptr ? FERMATA_REAL(scandir)(path, list, selects, compare)
                          : scan(*files, path, list, selects, compare);
}

int scandir64(const char* path, dirent64*** list, int (*selects)(const dirent64*),
              int (*compare)(const dirent64**, const dirent64**)) {
  Files* const files = files_for(__builtin_return_address(0));
  return files == nullptr ? FERMATA_REAL(scandir64)(path, list, selects, compare)
                          : scan(*files, path, list, selects, compare);
}

}  // extern "C"
