// SPDX-License-Identifier: Apache-2.0

// Opening, reading and writing files.

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/posix/served/served_file.hpp"

using fermata::posix::answer;
using fermata::posix::at;
using fermata::posix::Files;
using fermata::posix::files_for;
using fermata::posix::open_as;
using fermata::posix::serving;
using fermata::posix::Sync;
using fermata::posix::Where;

namespace {

ssize_t read_at(Files& files, int descriptor, void* buffer, size_t size, off64_t offset) {
  FERMATA_ASSERT(serving != nullptr);
  const iovec target = {buffer, size};
  return files.read_at(descriptor, {&target, 1}, offset);
}

ssize_t write_at(Files& files, int descriptor, const void* data, size_t size, off64_t offset) {
  FERMATA_ASSERT(serving != nullptr);
  const iovec source = {const_cast<void*>(data), size};
  return files.write_at(descriptor, {&source, 1}, offset);
}

bool is_valid_count(int count) noexcept { return count >= 0 && count <= IOV_MAX; }

ssize_t read_pieces(Files& files, int descriptor, const iovec* target, int count, off64_t offset) {
  if (!is_valid_count(count)) return -EINVAL;
  return files.read_at(descriptor, {target, static_cast<size_t>(count)}, offset);
}

ssize_t write_pieces(Files& files, int descriptor, const iovec* source, int count, off64_t offset) {
  if (!is_valid_count(count)) return -EINVAL;
  return files.write_at(descriptor, {source, static_cast<size_t>(count)}, offset);
}

/// preadv2(): an offset of -1 is the position.
ssize_t read_anywhere(Files& files, int descriptor, const iovec* target, int count, off64_t offset,
                      int flags) {
  if ((flags & ~RWF_HIPRI) != 0) return -EOPNOTSUPP;
  if (offset != -1) return read_pieces(files, descriptor, target, count, offset);
  if (!is_valid_count(count)) return -EINVAL;
  return serving->read(descriptor, {target, static_cast<size_t>(count)});
}

/// pwritev2(), with a sync behind it if the flags ask for one.
ssize_t write_anywhere(Files& files, int descriptor, const iovec* source, int count, off64_t offset,
                       int flags) {
  if ((flags & ~(RWF_HIPRI | RWF_DSYNC | RWF_SYNC)) != 0) return -EOPNOTSUPP;
  if (!is_valid_count(count)) return -EINVAL;
  const ssize_t written = offset != -1
                              ? write_pieces(files, descriptor, source, count, offset)
                              : serving->write(descriptor, {source, static_cast<size_t>(count)});
  if (written < 0 || (flags & (RWF_DSYNC | RWF_SYNC)) == 0) return written;
  const int synced = files.sync(descriptor, Sync::File);
  return synced < 0 ? synced : written;
}

/// Functions of POSIX that return an error instead of setting errno.
int error_of(int result) noexcept { return result < 0 ? -result : 0; }

/// One step of a copy, from `offset` or from the position of `source`.
template <class Write>
ssize_t copy_part(Files& files, int source, off64_t* offset, size_t size, const Write& write) {
  constexpr size_t kMost = 64 * 1024;
  const off64_t begin = offset != nullptr ? *offset : files.seek(source, 0, SEEK_CUR);
  if (begin < 0) return begin == -ESPIPE ? -EINVAL : begin;
  std::vector<std::byte> bytes(std::min(size, kMost));
  const ssize_t read = read_at(files, source, bytes.data(), bytes.size(), begin);
  if (read <= 0) return read;
  const ssize_t written = write(bytes.data(), static_cast<size_t>(read));
  if (written <= 0) return written;
  if (offset != nullptr) {
    *offset = begin + written;
  } else {
    static_cast<void>(files.seek(source, begin + written, SEEK_SET));
  }
  return written;
}

ssize_t send_file(Files& files, int target, int source, off64_t* offset, size_t size) {
  const int from = serving->fcntl(source, F_GETFL, 0);
  if (from < 0) return from;
  if ((from & O_ACCMODE) == O_WRONLY || (from & O_PATH) != 0) return -EBADF;
  const int status = serving->fcntl(target, F_GETFL, 0);
  if (status < 0) return status;
  if ((status & O_ACCMODE) == O_RDONLY || (status & O_PATH) != 0) return -EBADF;
  if ((status & O_APPEND) != 0) return -EINVAL;
  ssize_t sent = 0;
  while (static_cast<size_t>(sent) < size) {
    const ssize_t part = copy_part(files, source, offset, size - static_cast<size_t>(sent),
                                   [target](std::byte* data, size_t count) {
                                     const iovec piece = {data, count};
                                     return serving->write(target, {&piece, 1});
                                   });
    if (part < 0 && sent == 0) return part == -EISDIR ? -EINVAL : part;
    if (part <= 0) break;
    sent += part;
  }
  return sent;
}

ssize_t copy_range(Files& files, int source, off64_t* from, int target, off64_t* to, size_t size) {
  const auto write = [&](std::byte* data, size_t count) -> ssize_t {
    const iovec piece = {data, count};
    if (to == nullptr) return serving->write(target, {&piece, 1});
    const ssize_t written = files.write_at(target, {&piece, 1}, *to);
    if (written > 0) *to += written;
    return written;
  };
  ssize_t copied = 0;
  do {
    const ssize_t part = copy_part(files, source, from, size - static_cast<size_t>(copied), write);
    if (part < 0 && copied == 0) return part;
    if (part <= 0) break;
    copied += part;
  } while (static_cast<size_t>(copied) < size);
  return copied;
}

/// Waits until `target` takes data again; false, with errno, when it does not look as if it blocks,
/// or nothing is to be waited for any longer.
bool waits_to_write(int target) noexcept {
  const bool blocks = (::fcntl(target, F_GETFL) & O_NONBLOCK) == 0;
  fermata::posix::Kernel* const kernel = fermata::posix::managing(target);
  if (!blocks || kernel == nullptr) {
    errno = EAGAIN;
    return false;
  }
  pollfd asked = {target, POLLOUT, 0};
  return answer(kernel->poll({&asked, 1}, std::nullopt)) > 0;
}

}  // namespace

extern "C" {

// Spellings that headers do not declare, or do not declare without _FORTIFY_SOURCE.
int __open_2(const char* path, int flags);
int __open64_2(const char* path, int flags);
int __openat_2(int directory, const char* path, int flags);
int __openat64_2(int directory, const char* path, int flags);
ssize_t __pread_chk(int descriptor, void* buffer, size_t size, off_t offset, size_t room);
ssize_t __pread64_chk(int descriptor, void* buffer, size_t size, off64_t offset, size_t room);

// --- opening ---

#define FERMATA_OPEN(name, parameters, first_arguments, where)                     \
  int name parameters {                                                            \
    va_list mode_behind;                                                           \
    va_start(mode_behind, flags);                                                  \
    const mode_t mode = va_arg(mode_behind, mode_t);                               \
    va_end(mode_behind);                                                           \
    Files* const files = files_for(__builtin_return_address(0));                   \
    if (files == nullptr) return FERMATA_REAL(name)(first_arguments, flags, mode); \
    return answer(files->open(where, flags, mode));                                \
  }
#define FERMATA_PATH_AT directory, path

FERMATA_OPEN(open, (const char* path, int flags, ...), path, at(path))
FERMATA_OPEN(open64, (const char* path, int flags, ...), path, at(path))
FERMATA_OPEN(openat, (int directory, const char* path, int flags, ...), FERMATA_PATH_AT,
             at(directory, path))
FERMATA_OPEN(openat64, (int directory, const char* path, int flags, ...), FERMATA_PATH_AT,
             at(directory, path))

#undef FERMATA_PATH_AT
#undef FERMATA_OPEN

// With _FORTIFY_SOURCE these stand for those above without a mode.
FERMATA_FILE(int, __open_2, (const char* path, int flags), (path, flags), ,
             files->open(at(path), flags, 0))
FERMATA_FILE(int, __open64_2, (const char* path, int flags), (path, flags), ,
             files->open(at(path), flags, 0))
FERMATA_FILE(int, __openat_2, (int directory, const char* path, int flags),
             (directory, path, flags), , files->open(at(directory, path), flags, 0))
FERMATA_FILE(int, __openat64_2, (int directory, const char* path, int flags),
             (directory, path, flags), , files->open(at(directory, path), flags, 0))

FERMATA_FILE(int, creat, (const char* path, mode_t mode), (path, mode), ,
             files->open(at(path), O_CREAT | O_WRONLY | O_TRUNC, mode))
FERMATA_FILE(int, creat64, (const char* path, mode_t mode), (path, mode), ,
             files->open(at(path), O_CREAT | O_WRONLY | O_TRUNC, mode))

// --- at a position ---

FERMATA_FILE(ssize_t, pread, (int descriptor, void* buffer, size_t size, off_t offset),
             (descriptor, buffer, size, offset), ,
             read_at(*files, descriptor, buffer, size, offset))
FERMATA_FILE(ssize_t, pread64, (int descriptor, void* buffer, size_t size, off64_t offset),
             (descriptor, buffer, size, offset), ,
             read_at(*files, descriptor, buffer, size, offset))
FERMATA_FILE(ssize_t, pwrite, (int descriptor, const void* data, size_t size, off_t offset),
             (descriptor, data, size, offset), , write_at(*files, descriptor, data, size, offset))
FERMATA_FILE(ssize_t, pwrite64, (int descriptor, const void* data, size_t size, off64_t offset),
             (descriptor, data, size, offset), , write_at(*files, descriptor, data, size, offset))

ssize_t __pread_chk(int descriptor, void* buffer, size_t size, off_t offset, size_t room) {
  const bool is_served = size <= room && files_for(__builtin_return_address(0)) != nullptr;
  return is_served ? pread(descriptor, buffer, size, offset)
                   : FERMATA_REAL(__pread_chk)(descriptor, buffer, size, offset, room);
}

ssize_t __pread64_chk(int descriptor, void* buffer, size_t size, off64_t offset, size_t room) {
  const bool is_served = size <= room && files_for(__builtin_return_address(0)) != nullptr;
  return is_served ? pread64(descriptor, buffer, size, offset)
                   : FERMATA_REAL(__pread64_chk)(descriptor, buffer, size, offset, room);
}

FERMATA_FILE(ssize_t, preadv, (int descriptor, const iovec* target, int count, off_t offset),
             (descriptor, target, count, offset), ,
             read_pieces(*files, descriptor, target, count, offset))
FERMATA_FILE(ssize_t, preadv64, (int descriptor, const iovec* target, int count, off64_t offset),
             (descriptor, target, count, offset), ,
             read_pieces(*files, descriptor, target, count, offset))
FERMATA_FILE(ssize_t, pwritev, (int descriptor, const iovec* source, int count, off_t offset),
             (descriptor, source, count, offset), ,
             write_pieces(*files, descriptor, source, count, offset))
FERMATA_FILE(ssize_t, pwritev64, (int descriptor, const iovec* source, int count, off64_t offset),
             (descriptor, source, count, offset), ,
             write_pieces(*files, descriptor, source, count, offset))

FERMATA_FILE(ssize_t, preadv2,
             (int descriptor, const iovec* target, int count, off_t offset, int flags),
             (descriptor, target, count, offset, flags), ,
             read_anywhere(*files, descriptor, target, count, offset, flags))
FERMATA_FILE(ssize_t, preadv64v2,
             (int descriptor, const iovec* target, int count, off64_t offset, int flags),
             (descriptor, target, count, offset, flags), ,
             read_anywhere(*files, descriptor, target, count, offset, flags))
FERMATA_FILE(ssize_t, pwritev2,
             (int descriptor, const iovec* source, int count, off_t offset, int flags),
             (descriptor, source, count, offset, flags), ,
             write_anywhere(*files, descriptor, source, count, offset, flags))
FERMATA_FILE(ssize_t, pwritev64v2,
             (int descriptor, const iovec* source, int count, off64_t offset, int flags),
             (descriptor, source, count, offset, flags), ,
             write_anywhere(*files, descriptor, source, count, offset, flags))

FERMATA_FILE(off_t, lseek, (int descriptor, off_t offset, int whence), (descriptor, offset, whence),
             noexcept, files->seek(descriptor, offset, whence))
FERMATA_FILE(off64_t, lseek64, (int descriptor, off64_t offset, int whence),
             (descriptor, offset, whence), noexcept, files->seek(descriptor, offset, whence))

// --- what lasts, and sizes ---

FERMATA_FILE(int, fsync, (int descriptor), (descriptor), , files->sync(descriptor, Sync::File))
FERMATA_FILE(int, fdatasync, (int descriptor), (descriptor), ,
             files->sync(descriptor, Sync::Contents))
FERMATA_FILE(int, syncfs, (int descriptor), (descriptor), noexcept,
             files->sync(descriptor, Sync::FileSystem))

void sync() noexcept {
  Files* const files = files_for(__builtin_return_address(0));
  return files == nullptr ? FERMATA_REAL(sync)() : files->sync_all();
}

// Promises nothing; so that the descriptor is open is all that counts.
FERMATA_FILE(int, sync_file_range, (int descriptor, off64_t offset, off64_t size, unsigned flags),
             (descriptor, offset, size, flags), ,
             std::min<off64_t>(files->seek(descriptor, 0, SEEK_CUR), 0))

FERMATA_FILE(int, ftruncate, (int descriptor, off_t size), (descriptor, size), noexcept,
             files->truncate(open_as(descriptor), size))
FERMATA_FILE(int, ftruncate64, (int descriptor, off64_t size), (descriptor, size), noexcept,
             files->truncate(open_as(descriptor), size))
FERMATA_FILE(int, truncate, (const char* path, off_t size), (path, size), noexcept,
             files->truncate(at(path), size))
FERMATA_FILE(int, truncate64, (const char* path, off64_t size), (path, size), noexcept,
             files->truncate(at(path), size))

FERMATA_FILE(int, fallocate, (int descriptor, int mode, off_t offset, off_t size),
             (descriptor, mode, offset, size), , files->allocate(descriptor, mode, offset, size))
FERMATA_FILE(int, fallocate64, (int descriptor, int mode, off64_t offset, off64_t size),
             (descriptor, mode, offset, size), , files->allocate(descriptor, mode, offset, size))
FERMATA_FILE(int, posix_fallocate, (int descriptor, off_t offset, off_t size),
             (descriptor, offset, size), , error_of(files->allocate(descriptor, 0, offset, size)))
FERMATA_FILE(int, posix_fallocate64, (int descriptor, off64_t offset, off64_t size),
             (descriptor, offset, size), , error_of(files->allocate(descriptor, 0, offset, size)))

// Advice has no effect.
FERMATA_FILE(int, posix_fadvise, (int descriptor, off_t offset, off_t size, int advice),
             (descriptor, offset, size, advice), noexcept,
             error_of(static_cast<int>(std::min<off64_t>(files->seek(descriptor, 0, SEEK_CUR), 0))))
FERMATA_FILE(int, posix_fadvise64, (int descriptor, off64_t offset, off64_t size, int advice),
             (descriptor, offset, size, advice), noexcept,
             error_of(static_cast<int>(std::min<off64_t>(files->seek(descriptor, 0, SEEK_CUR), 0))))
FERMATA_FILE(ssize_t, readahead, (int descriptor, off64_t offset, size_t size),
             (descriptor, offset, size), noexcept,
             std::min<off64_t>(files->seek(descriptor, 0, SEEK_CUR), 0))

// --- locks ---

FERMATA_FILE(int, flock, (int descriptor, int operation), (descriptor, operation), noexcept,
             files->lock(descriptor, operation))

int lockf64(int descriptor, int command, off64_t size) {
  if (files_for(__builtin_return_address(0)) == nullptr) {
    return FERMATA_REAL(lockf64)(descriptor, command, size);
  }
  struct flock lock = {};
  lock.l_type = command == F_ULOCK ? F_UNLCK : F_WRLCK;
  lock.l_whence = SEEK_CUR;
  lock.l_len = size;
  const auto argument = reinterpret_cast<std::intptr_t>(&lock);
  switch (command) {
    case F_TEST: {
      const int result = serving->fcntl(descriptor, F_GETLK, argument);
      return answer(result < 0 ? result : lock.l_type == F_UNLCK ? 0 : -EACCES);
    }
    case F_LOCK:
      return answer(serving->fcntl(descriptor, F_SETLKW, argument));
    case F_TLOCK:
    case F_ULOCK:
      return answer(serving->fcntl(descriptor, F_SETLK, argument));
    default:
      return answer(-EINVAL);
  }
}

int lockf(int descriptor, int command, off_t size) { return lockf64(descriptor, command, size); }

// --- from one to another ---

ssize_t sendfile(int target, int source, off_t* offset, size_t size) noexcept {
  Files* const files = files_for(__builtin_return_address(0));
  if (files != nullptr) return answer(send_file(*files, target, source, offset, size));
  for (;;) {
    const ssize_t sent = FERMATA_REAL(sendfile)(target, source, offset, size);
    if (sent >= 0 || errno != EAGAIN || !waits_to_write(target)) return sent;
  }
}

ssize_t sendfile64(int target, int source, off64_t* offset, size_t size) noexcept {
  return sendfile(target, source, offset, size);
}

FERMATA_FILE(ssize_t, copy_file_range,
             (int source, off64_t* from, int target, off64_t* to, size_t size, unsigned flags),
             (source, from, target, to, size, flags), ,
             flags != 0 ? -EINVAL : copy_range(*files, source, from, target, to, size))

}  // extern "C"
