// SPDX-License-Identifier: Apache-2.0
#include "fermata/posix/streams.hpp"

#include <fcntl.h>
#include <stdio_ext.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/posix/files.hpp"
#include "fermata/posix/kernel.hpp"
#include "fermata/system/mutex.hpp"

namespace fermata::posix {

namespace {

/// The size of the system's buffers of files.
constexpr std::size_t kBuffer = 4096;

struct Stream {
  Kernel* kernel;
  int descriptor;
  bool closes_itself;
  std::FILE* file = nullptr;
  bool busy = false;     // Somebody waits in the middle of an operation.
  bool dropped = false;  // Its process has ended.
  std::array<char, kBuffer> buffer{};
};

// Never destroyed: streams may be used until the end of the program.
os::Mutex& list_mutex() noexcept {
  static auto* const mutex = new os::Mutex;
  return *mutex;
}
std::vector<Stream*>& list() noexcept {
  static auto* const streams = new std::vector<Stream*>;
  return *streams;
}

std::vector<Stream*> streams_of(const Kernel& kernel) {
  const std::lock_guard lock(list_mutex());
  std::vector<Stream*> found;
  for (Stream* const each : list()) {
    if (each->kernel == &kernel) found.push_back(each);
  }
  return found;
}

Stream* find(const std::FILE* file) noexcept {
  const std::lock_guard lock(list_mutex());
  const auto found = std::find_if(list().begin(), list().end(),
                                  [file](const Stream* each) { return each->file == file; });
  return found == list().end() ? nullptr : *found;
}

ssize_t fail(ssize_t code) noexcept {
  errno = static_cast<int>(-code);
  return -1;
}

/// Calls `now`, which does not suspend, or `otherwise` for a descriptor of anything but a file.
template <class Now, class Otherwise>
ssize_t transfer(Stream& stream, const Now& now, const Otherwise& otherwise) {
  if (stream.dropped || serving != stream.kernel) return fail(-EBADF);
  if (Files* const files = stream.kernel->files()) {
    const ssize_t moved = now(*files);
    if (moved != -ESPIPE) return moved < 0 ? fail(moved) : moved;
  }
  if (stream.busy) return fail(-EDEADLK);
  struct Busy {
    bool& flag;
    ~Busy() { flag = false; }
  } const until_done{stream.busy = true};
  const ssize_t moved = otherwise();
  return moved < 0 ? fail(moved) : moved;
}

ssize_t read(void* cookie, char* buffer, std::size_t size) {
  auto& stream = *static_cast<Stream*>(cookie);
  const iovec piece = {buffer, size};
  return transfer(
      stream,
      [&](Files& files) {
        return files.read_at_once(stream.descriptor, {&piece, 1});
      },
      [&] {
        return stream.kernel->read(stream.descriptor, {&piece, 1});
      });
}

/// The C library takes what is less than all for an error.
ssize_t write(void* cookie, const char* data, std::size_t size) {
  auto& stream = *static_cast<Stream*>(cookie);
  if (stream.dropped) return static_cast<ssize_t>(size);
  std::size_t written = 0;
  while (written < size) {
    const iovec piece = {const_cast<char*>(data) + written, size - written};
    const ssize_t part = transfer(
        stream,
        [&](Files& files) {
          return files.write_at_once(stream.descriptor, {&piece, 1});
        },
        [&] {
          return stream.kernel->write(stream.descriptor, {&piece, 1});
        });
    if (part < 0) return written > 0 ? static_cast<ssize_t>(written) : 0;
    written += static_cast<std::size_t>(part);
  }
  return static_cast<ssize_t>(written);
}

int seek(void* cookie, off64_t* offset, int whence) {
  auto& stream = *static_cast<Stream*>(cookie);
  if (stream.dropped) return 0;
  Files* const files = serving == stream.kernel ? stream.kernel->files() : nullptr;
  const off64_t position =
      files == nullptr ? -EBADF : files->seek(stream.descriptor, *offset, whence);
  if (position < 0) return static_cast<int>(fail(position));
  *offset = position;
  return 0;
}

int close(void* cookie) {
  auto* const stream = static_cast<Stream*>(cookie);
  {
    const std::lock_guard lock(list_mutex());
    std::erase(list(), stream);
  }
  int code = 0;
  if (!stream->dropped && serving == stream->kernel) code = serving->close(stream->descriptor);
  delete stream;
  return code < 0 ? static_cast<int>(fail(code)) : 0;
}

}  // namespace

std::FILE* make_stream(Kernel& kernel, int descriptor, const char* mode,
                       bool closes_itself) noexcept {
  auto* const stream = new (std::nothrow) Stream{&kernel, descriptor, closes_itself};
  if (stream == nullptr) return nullptr;
  std::FILE* const file =
      ::fopencookie(stream, mode, {.read = read, .write = write, .seek = seek, .close = close});
  if (file == nullptr) {
    delete stream;
    return nullptr;
  }
  stream->file = file;
  std::setvbuf(file, stream->buffer.data(), _IOFBF, stream->buffer.size());
  const std::lock_guard lock(list_mutex());
  list().push_back(stream);
  return file;
}

int descriptor_of(const std::FILE* stream) noexcept {
  const Stream* const found = find(stream);
  return found == nullptr ? -1 : found->descriptor;
}

void redirect(std::FILE* stream, int descriptor, const char* mode) noexcept {
  constexpr int kNoReads = 4;
  constexpr int kNoWrites = 8;
  Stream* const found = find(stream);
  FERMATA_ASSERT(found != nullptr);
  ::__fpurge(stream);
  std::clearerr(stream);
  const bool updates = std::strchr(mode, '+') != nullptr;
  stream->_flags &= ~(kNoReads | kNoWrites);
  if (!updates) stream->_flags |= mode[0] == 'r' ? kNoWrites : kNoReads;
  found->descriptor = descriptor;
}

bool flush_streams(const Kernel& kernel) noexcept {
  bool all = true;
  for (Stream* const each : streams_of(kernel)) {
    if (::fflush_unlocked(each->file) != 0) all = false;
  }
  return all;
}

void drop_streams(const Kernel& kernel) noexcept {
  for (Stream* const each : streams_of(kernel)) {
    each->dropped = true;
    FERMATA_ASSERT(each->file != nullptr);
    if (!each->closes_itself) {
      std::fclose(each->file);
      continue;
    }
    const std::lock_guard lock(list_mutex());
    std::erase(list(), each);
  }
}

}  // namespace fermata::posix
