// SPDX-License-Identifier: Apache-2.0

// Opening streams of stdio. What is done with them is the C library's.

#include "fermata/posix/streams.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>

#include "fermata/base/assert.hpp"
#include "fermata/posix/served/real.hpp"

using fermata::posix::answer;
using fermata::posix::at;
using fermata::posix::descriptor_of;
using fermata::posix::Files;
using fermata::posix::files_for;
using fermata::posix::flush_streams;
using fermata::posix::make_stream;
using fermata::posix::redirect;
using fermata::posix::serving;
using fermata::posix::detail::is_cpp_library;

namespace {

constexpr mode_t kPermissions = 0666;

/// Flags of open() for a mode of fopen(); -1 for one that there is not.
int flags_of(const char* mode) noexcept {
  int access = 0;
  int others = 0;
  switch (mode[0]) {
    case 'r':
      access = O_RDONLY;
      break;
    case 'w':
      access = O_WRONLY;
      others = O_CREAT | O_TRUNC;
      break;
    case 'a':
      access = O_WRONLY;
      others = O_CREAT | O_APPEND;
      break;
    default:
      return -1;
  }
  for (const char* at = mode + 1; *at != '\0' && *at != ','; ++at) {
    if (*at == '+') access = O_RDWR;
    if (*at == 'x') others |= O_EXCL;
    if (*at == 'e') others |= O_CLOEXEC;
  }
  return access | others;
}

FILE* fail(int code) noexcept {
  errno = code;
  return nullptr;
}

/// On a descriptor that is closed when there is no stream.
FILE* stream_on(int descriptor, const char* mode, const void* caller) {
  if (answer(descriptor) < 0) return nullptr;
  FERMATA_ASSERT(serving != nullptr);
  FILE* const stream = make_stream(*serving, descriptor, mode, is_cpp_library(caller));
  if (stream == nullptr) static_cast<void>(serving->close(descriptor));
  return stream;
}

FILE* open_stream(Files& files, const char* path, const char* mode, const void* caller) {
  const int flags = flags_of(mode);
  if (flags < 0) return fail(EINVAL);
  const int descriptor = files.open(at(path), flags, kPermissions);
  const bool only_appends = (flags & O_APPEND) != 0 && (flags & O_ACCMODE) == O_WRONLY;
  if (only_appends) static_cast<void>(files.seek(descriptor, 0, SEEK_END));
  return stream_on(descriptor, mode, caller);
}

FILE* stream_of(int descriptor, const char* mode, const void* caller) {
  const int flags = flags_of(mode);
  if (flags < 0) return fail(EINVAL);
  const int status = serving->fcntl(descriptor, F_GETFL, 0);
  if (answer(status) < 0) return nullptr;
  const int has = status & O_ACCMODE;
  if (has != O_RDWR && has != (flags & O_ACCMODE)) return fail(EINVAL);
  if ((flags & O_APPEND) != 0) {
    static_cast<void>(serving->fcntl(descriptor, F_SETFL, status | O_APPEND));
  }
  return make_stream(*serving, descriptor, mode, is_cpp_library(caller));
}

FILE* open_again(Files& files, const char* path, const char* mode, FILE* stream,
                 const char* function, const void* caller) {
  const int before = descriptor_of(stream);
  const int flags = flags_of(mode);
  if (before < 0 || path == nullptr) {  // A standard stream, or one that keeps its file.
    serving->refuse(function, caller);
    return fail(ENOSYS);
  }
  static_cast<void>(std::fflush(stream));
  static_cast<void>(serving->close(before));
  const int opened = flags < 0 ? -EINVAL : files.open(at(path), flags, kPermissions);
  redirect(stream, opened, mode);
  if (opened >= 0) return stream;
  static_cast<void>(std::fclose(stream));
  return fail(-opened);
}

}  // namespace

extern "C" {

FILE* fopen(const char* path, const char* mode) {
  const void* const caller = __builtin_return_address(0);
  Files* const files = files_for(caller);
  return files == nullptr ? FERMATA_REAL(fopen)(path, mode)
                          : open_stream(*files, path, mode, caller);
}

FILE* fopen64(const char* path, const char* mode) {
  const void* const caller = __builtin_return_address(0);
  Files* const files = files_for(caller);
  return files == nullptr ? FERMATA_REAL(fopen64)(path, mode)
                          : open_stream(*files, path, mode, caller);
}

FILE* fdopen(int descriptor, const char* mode) noexcept {
  const void* const caller = __builtin_return_address(0);
  Files* const files = files_for(caller);
  return files == nullptr ? FERMATA_REAL(fdopen)(descriptor, mode)
                          : stream_of(descriptor, mode, caller);
}

FILE* freopen(const char* path, const char* mode, FILE* stream) {
  const void* const caller = __builtin_return_address(0);
  Files* const files = files_for(caller);
  return files == nullptr ? FERMATA_REAL(freopen)(path, mode, stream)
                          : open_again(*files, path, mode, stream, "freopen", caller);
}

FILE* freopen64(const char* path, const char* mode, FILE* stream) {
  const void* const caller = __builtin_return_address(0);
  Files* const files = files_for(caller);
  return files == nullptr ? FERMATA_REAL(freopen64)(path, mode, stream)
                          : open_again(*files, path, mode, stream, "freopen64", caller);
}

FILE* tmpfile() {
  const void* const caller = __builtin_return_address(0);
  Files* const files = files_for(caller);
  return files == nullptr ? FERMATA_REAL(tmpfile)()
                          : stream_on(files->open_unnamed(O_RDWR), "w+", caller);
}

FILE* tmpfile64() {
  const void* const caller = __builtin_return_address(0);
  Files* const files = files_for(caller);
  return files == nullptr ? FERMATA_REAL(tmpfile64)()
                          : stream_on(files->open_unnamed(O_RDWR), "w+", caller);
}

int fileno(FILE* stream) noexcept {
  const int own = descriptor_of(stream);
  return own >= 0 ? own : FERMATA_REAL(fileno)(stream);
}

int fileno_unlocked(FILE* stream) noexcept {
  const int own = descriptor_of(stream);
  return own >= 0 ? own : FERMATA_REAL(fileno_unlocked)(stream);
}

// All streams are those of the process, and the standard ones.
int fflush(FILE* stream) {
  const bool is_all = stream == nullptr && files_for(__builtin_return_address(0)) != nullptr;
  if (!is_all) return FERMATA_REAL(fflush)(stream);
  const bool flushed = flush_streams(*serving);
  const bool printed = FERMATA_REAL(fflush)(stdout) == 0;
  return flushed && printed ? 0 : EOF;
}

}  // extern "C"
