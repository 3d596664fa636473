// SPDX-License-Identifier: Apache-2.0

// Names of files, and what is known of files.

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <unistd.h>
#include <utime.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "fermata/base/assert.hpp"
#include "fermata/posix/served/served_file.hpp"

using fermata::posix::answer;
using fermata::posix::at;
using fermata::posix::Files;
using fermata::posix::files_for;
using fermata::posix::link_at;
using fermata::posix::open_as;
using fermata::posix::serving;
using fermata::posix::Where;

namespace {

/// A file as the functions name it that take AT_ flags.
Where where_of(int directory, const char* path, int flags) noexcept {
  Where where = at(directory, path);
  where.follows = (flags & AT_SYMLINK_NOFOLLOW) == 0;
  if ((flags & AT_EMPTY_PATH) == 0 || path == nullptr || path[0] != '\0') return where;
  return directory == AT_FDCWD ? at(".") : open_as(directory);
}

// --- what is known of files ---

static_assert(sizeof(struct stat) == sizeof(struct stat64));

struct stat& plain(struct stat64& status) noexcept {
  return reinterpret_cast<struct stat&>(status);
}
struct stat& plain(struct stat& status) noexcept {
  return status;
}

template <class Status>
int status_of(Files& files, const Where& where, Status* status) {
  if (status == nullptr) return -EFAULT;
  return where.has_path ? files.status(where, plain(*status))
                        : serving->fstat(where.descriptor, plain(*status));
}

template <class Status>
int status_at(Files& files, int directory, const char* path, Status* status, int flags) {
  constexpr int kKnown = AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH | AT_NO_AUTOMOUNT;
  if ((flags & ~kKnown) != 0) return -EINVAL;
  return status_of(files, where_of(directory, path, flags), status);
}

statx_timestamp statx_time(const timespec& time) noexcept {
  return {.tv_sec = time.tv_sec, .tv_nsec = static_cast<std::uint32_t>(time.tv_nsec)};
}

int extended_status(Files& files, const Where& where, struct statx* status) {
  FERMATA_ASSERT(serving != nullptr);
  struct stat known = {};
  if (const int code = status_of(files, where, &known)) return code;
  if (status == nullptr) return -EFAULT;
  *status = {};
  status->stx_mask = STATX_BASIC_STATS;
  status->stx_blksize = static_cast<std::uint32_t>(known.st_blksize);
  status->stx_nlink = static_cast<std::uint32_t>(known.st_nlink);
  status->stx_uid = known.st_uid;
  status->stx_gid = known.st_gid;
  status->stx_mode = static_cast<std::uint16_t>(known.st_mode);
  status->stx_ino = known.st_ino;
  status->stx_size = static_cast<std::uint64_t>(known.st_size);
  status->stx_blocks = static_cast<std::uint64_t>(known.st_blocks);
  status->stx_atime = statx_time(known.st_atim);
  status->stx_ctime = statx_time(known.st_ctim);
  status->stx_mtime = statx_time(known.st_mtim);
  status->stx_dev_major = major(known.st_dev);
  status->stx_dev_minor = minor(known.st_dev);
  return 0;
}

int extended_status_at(Files& files, int directory, const char* path, int flags,
                       struct statx* status) {
  constexpr int kKnown = AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH | AT_NO_AUTOMOUNT | AT_STATX_SYNC_TYPE;
  if ((flags & ~kKnown) != 0) return -EINVAL;
  return extended_status(files, where_of(directory, path, flags), status);
}

int access_at(Files& files, int directory, const char* path, int mode, int flags) {
  if ((flags & ~(AT_EACCESS | AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)) != 0) return -EINVAL;
  return files.access(where_of(directory, path, flags), mode);
}

template <class Space>
int space_of(Files& files, const Where& where, Space* space) {
  struct statvfs known = {};
  if (const int code = files.space(where, known)) return code;
  *space = {};
  if constexpr (requires { space->f_spare; }) {
    constexpr auto kExt4 = 0xEF53;
    space->f_type = kExt4;
    space->f_bsize = static_cast<decltype(space->f_bsize)>(known.f_bsize);
    space->f_frsize = static_cast<decltype(space->f_frsize)>(known.f_frsize);
    space->f_namelen = static_cast<decltype(space->f_namelen)>(known.f_namemax);
  } else {
    space->f_bsize = known.f_bsize;
    space->f_frsize = known.f_frsize;
    space->f_favail = known.f_favail;
    space->f_fsid = known.f_fsid;
    space->f_namemax = known.f_namemax;
  }
  space->f_blocks = known.f_blocks;
  space->f_bfree = known.f_bfree;
  space->f_bavail = known.f_bavail;
  space->f_files = known.f_files;
  space->f_ffree = known.f_ffree;
  return 0;
}

// --- times ---

constexpr std::array<timespec, 2> kNow = {timespec{0, UTIME_NOW}, timespec{0, UTIME_NOW}};

int set_times(Files& files, const Where& where, const timespec* times) {
  return files.change_times(where, times == nullptr ? kNow : std::array{times[0], times[1]});
}

int set_times(Files& files, const Where& where, const timeval* times) {
  constexpr long kThousand = 1000;
  constexpr long kMillion = 1'000'000;
  if (times == nullptr) return files.change_times(where, kNow);
  std::array<timespec, 2> exact{};
  for (std::size_t i = 0; i < exact.size(); ++i) {
    if (times[i].tv_usec < 0 || times[i].tv_usec >= kMillion) return -EINVAL;
    exact[i] = {times[i].tv_sec, times[i].tv_usec * kThousand};
  }
  return files.change_times(where, exact);
}

int set_times(Files& files, const Where& where, const utimbuf* times) {
  if (times == nullptr) return files.change_times(where, kNow);
  return files.change_times(where, {timespec{times->actime, 0}, timespec{times->modtime, 0}});
}

int set_times_at(Files& files, int directory, const char* path, const timespec* times, int flags) {
  if ((flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)) != 0) return -EINVAL;
  const bool is_open_file = path == nullptr && directory != AT_FDCWD;
  return set_times(files, is_open_file ? open_as(directory) : where_of(directory, path, flags),
                   times);
}

// --- names ---

int remove_at(Files& files, int directory, const char* path, int flags) {
  if ((flags & ~AT_REMOVEDIR) != 0) return -EINVAL;
  const Where where = at(directory, path);
  return flags != 0 ? files.remove_directory(where) : files.remove(where);
}

int remove_any(Files& files, const char* path) {
  const int code = files.remove(at(path));
  return code == -EISDIR ? files.remove_directory(at(path)) : code;
}

int link_from(Files& files, int from_directory, const char* from, int to_directory, const char* to,
              int flags) {
  if ((flags & ~(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH)) != 0) return -EINVAL;
  const int other = (flags & AT_SYMLINK_FOLLOW) == 0 ? AT_SYMLINK_NOFOLLOW : 0;
  return files.link(where_of(from_directory, from, other | (flags & AT_EMPTY_PATH)),
                    at(to_directory, to));
}

int change_mode_at(Files& files, int directory, const char* path, mode_t mode, int flags) {
  if ((flags & ~AT_SYMLINK_NOFOLLOW) != 0) return -EINVAL;
  return files.change_mode(where_of(directory, path, flags), mode);
}

int change_owner_at(Files& files, int directory, const char* path, uid_t owner, gid_t group,
                    int flags) {
  if ((flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)) != 0) return -EINVAL;
  return files.change_owner(where_of(directory, path, flags), owner, group);
}

}  // namespace

extern "C" {

// Those of old programs, and those that headers declare with _FORTIFY_SOURCE only.
int __xstat(int version, const char* path, struct stat* status);
int __xstat64(int version, const char* path, struct stat64* status);
int __lxstat(int version, const char* path, struct stat* status);
int __lxstat64(int version, const char* path, struct stat64* status);
int __fxstat(int version, int descriptor, struct stat* status);
int __fxstat64(int version, int descriptor, struct stat64* status);
int __fxstatat(int version, int directory, const char* path, struct stat* status, int flags);
int __fxstatat64(int version, int directory, const char* path, struct stat64* status, int flags);
ssize_t __readlink_chk(const char* path, char* buffer, size_t size, size_t room);
ssize_t __readlinkat_chk(int directory, const char* path, char* buffer, size_t size, size_t room);
int eaccess(const char* path, int mode) noexcept;

// --- what is known of files ---

FERMATA_FILE(int, stat, (const char* path, struct stat* status), (path, status), noexcept,
             status_of(*files, at(path), status))
FERMATA_FILE(int, stat64, (const char* path, struct stat64* status), (path, status), noexcept,
             status_of(*files, at(path), status))
FERMATA_FILE(int, lstat, (const char* path, struct stat* status), (path, status), noexcept,
             status_of(*files, link_at(path), status))
FERMATA_FILE(int, lstat64, (const char* path, struct stat64* status), (path, status), noexcept,
             status_of(*files, link_at(path), status))
FERMATA_FILE(int, fstat, (int descriptor, struct stat* status), (descriptor, status), noexcept,
             status_of(*files, open_as(descriptor), status))
FERMATA_FILE(int, fstat64, (int descriptor, struct stat64* status), (descriptor, status), noexcept,
             status_of(*files, open_as(descriptor), status))
FERMATA_FILE(int, fstatat, (int directory, const char* path, struct stat* status, int flags),
             (directory, path, status, flags), noexcept,
             status_at(*files, directory, path, status, flags))
FERMATA_FILE(int, fstatat64, (int directory, const char* path, struct stat64* status, int flags),
             (directory, path, status, flags), noexcept,
             status_at(*files, directory, path, status, flags))
FERMATA_FILE(int, __xstat, (int version, const char* path, struct stat* status),
             (version, path, status), , status_of(*files, at(path), status))
FERMATA_FILE(int, __xstat64, (int version, const char* path, struct stat64* status),
             (version, path, status), , status_of(*files, at(path), status))
FERMATA_FILE(int, __lxstat, (int version, const char* path, struct stat* status),
             (version, path, status), , status_of(*files, link_at(path), status))
FERMATA_FILE(int, __lxstat64, (int version, const char* path, struct stat64* status),
             (version, path, status), , status_of(*files, link_at(path), status))
FERMATA_FILE(int, __fxstat, (int version, int descriptor, struct stat* status),
             (version, descriptor, status), , status_of(*files, open_as(descriptor), status))
FERMATA_FILE(int, __fxstat64, (int version, int descriptor, struct stat64* status),
             (version, descriptor, status), , status_of(*files, open_as(descriptor), status))
FERMATA_FILE(int, __fxstatat,
             (int version, int directory, const char* path, struct stat* status, int flags),
             (version, directory, path, status, flags), ,
             status_at(*files, directory, path, status, flags))
FERMATA_FILE(int, __fxstatat64,
             (int version, int directory, const char* path, struct stat64* status, int flags),
             (version, directory, path, status, flags), ,
             status_at(*files, directory, path, status, flags))
FERMATA_FILE(int, statx,
             (int directory, const char* path, int flags, unsigned mask, struct statx* status),
             (directory, path, flags, mask, status), noexcept,
             extended_status_at(*files, directory, path, flags, status))

FERMATA_FILE(int, access, (const char* path, int mode), (path, mode), noexcept,
             files->access(at(path), mode))
FERMATA_FILE(int, euidaccess, (const char* path, int mode), (path, mode), noexcept,
             files->access(at(path), mode))
FERMATA_FILE(int, eaccess, (const char* path, int mode), (path, mode), noexcept,
             files->access(at(path), mode))
FERMATA_FILE(int, faccessat, (int directory, const char* path, int mode, int flags),
             (directory, path, mode, flags), noexcept,
             access_at(*files, directory, path, mode, flags))

FERMATA_FILE(int, statvfs, (const char* path, struct statvfs* space), (path, space), noexcept,
             space_of(*files, at(path), space))
FERMATA_FILE(int, statvfs64, (const char* path, struct statvfs64* space), (path, space), noexcept,
             space_of(*files, at(path), space))
FERMATA_FILE(int, fstatvfs, (int descriptor, struct statvfs* space), (descriptor, space), noexcept,
             space_of(*files, open_as(descriptor), space))
FERMATA_FILE(int, fstatvfs64, (int descriptor, struct statvfs64* space), (descriptor, space),
             noexcept, space_of(*files, open_as(descriptor), space))
FERMATA_FILE(int, statfs, (const char* path, struct statfs* space), (path, space), noexcept,
             space_of(*files, at(path), space))
FERMATA_FILE(int, statfs64, (const char* path, struct statfs64* space), (path, space), noexcept,
             space_of(*files, at(path), space))
FERMATA_FILE(int, fstatfs, (int descriptor, struct statfs* space), (descriptor, space), noexcept,
             space_of(*files, open_as(descriptor), space))
FERMATA_FILE(int, fstatfs64, (int descriptor, struct statfs64* space), (descriptor, space),
             noexcept, space_of(*files, open_as(descriptor), space))

// --- changing that ---

FERMATA_FILE(int, chmod, (const char* path, mode_t mode), (path, mode), noexcept,
             files->change_mode(at(path), mode))
FERMATA_FILE(int, fchmod, (int descriptor, mode_t mode), (descriptor, mode), noexcept,
             files->change_mode(open_as(descriptor), mode))
FERMATA_FILE(int, fchmodat, (int directory, const char* path, mode_t mode, int flags),
             (directory, path, mode, flags), noexcept,
             change_mode_at(*files, directory, path, mode, flags))
FERMATA_FILE(int, chown, (const char* path, uid_t owner, gid_t group), (path, owner, group),
             noexcept, files->change_owner(at(path), owner, group))
FERMATA_FILE(int, lchown, (const char* path, uid_t owner, gid_t group), (path, owner, group),
             noexcept, files->change_owner(link_at(path), owner, group))
FERMATA_FILE(int, fchown, (int descriptor, uid_t owner, gid_t group), (descriptor, owner, group),
             noexcept, files->change_owner(open_as(descriptor), owner, group))
FERMATA_FILE(int, fchownat, (int directory, const char* path, uid_t owner, gid_t group, int flags),
             (directory, path, owner, group, flags), noexcept,
             change_owner_at(*files, directory, path, owner, group, flags))

FERMATA_FILE(int, utime, (const char* path, const utimbuf* times), (path, times), noexcept,
             set_times(*files, at(path), times))
FERMATA_FILE(int, utimes, (const char* path, const timeval* times), (path, times), noexcept,
             set_times(*files, at(path), times))
FERMATA_FILE(int, lutimes, (const char* path, const timeval* times), (path, times), noexcept,
             set_times(*files, link_at(path), times))
FERMATA_FILE(int, futimes, (int descriptor, const timeval* times), (descriptor, times), noexcept,
             set_times(*files, open_as(descriptor), times))
FERMATA_FILE(int, futimens, (int descriptor, const timespec* times), (descriptor, times), noexcept,
             set_times(*files, open_as(descriptor), times))
FERMATA_FILE(int, utimensat, (int directory, const char* path, const timespec* times, int flags),
             (directory, path, times, flags), noexcept,
             set_times_at(*files, directory, path, times, flags))

// --- names ---

FERMATA_FILE(int, unlink, (const char* path), (path), noexcept, files->remove(at(path)))
FERMATA_FILE(int, unlinkat, (int directory, const char* path, int flags), (directory, path, flags),
             noexcept, remove_at(*files, directory, path, flags))
FERMATA_FILE(int, remove, (const char* path), (path), noexcept, remove_any(*files, path))
FERMATA_FILE(int, rename, (const char* from, const char* to), (from, to), noexcept,
             files->rename(at(from), at(to), 0))
FERMATA_FILE(int, renameat,
             (int from_directory, const char* from, int to_directory, const char* to),
             (from_directory, from, to_directory, to), noexcept,
             files->rename(at(from_directory, from), at(to_directory, to), 0))
FERMATA_FILE(int, renameat2,
             (int from_directory, const char* from, int to_directory, const char* to,
              unsigned flags),
             (from_directory, from, to_directory, to, flags), noexcept,
             files->rename(at(from_directory, from), at(to_directory, to), flags))
FERMATA_FILE(int, link, (const char* from, const char* to), (from, to), noexcept,
             files->link(link_at(from), at(to)))
FERMATA_FILE(int, linkat,
             (int from_directory, const char* from, int to_directory, const char* to, int flags),
             (from_directory, from, to_directory, to, flags), noexcept,
             link_from(*files, from_directory, from, to_directory, to, flags))
FERMATA_FILE(int, symlink, (const char* target, const char* path), (target, path), noexcept,
             files->make_link(target, at(path)))
FERMATA_FILE(int, symlinkat, (const char* target, int directory, const char* path),
             (target, directory, path), noexcept, files->make_link(target, at(directory, path)))
FERMATA_FILE(ssize_t, readlink, (const char* path, char* buffer, size_t size), (path, buffer, size),
             noexcept, files->read_link(at(path), {buffer, size}))
FERMATA_FILE(ssize_t, readlinkat, (int directory, const char* path, char* buffer, size_t size),
             (directory, path, buffer, size), noexcept,
             files->read_link(where_of(directory, path, AT_EMPTY_PATH), {buffer, size}))

ssize_t __readlink_chk(const char* path, char* buffer, size_t size, size_t room) {
  const bool is_served = size <= room && files_for(__builtin_return_address(0)) != nullptr;
  return is_served ? readlink(path, buffer, size)
                   : FERMATA_REAL(__readlink_chk)(path, buffer, size, room);
}

ssize_t __readlinkat_chk(int directory, const char* path, char* buffer, size_t size, size_t room) {
  const bool is_served = size <= room && files_for(__builtin_return_address(0)) != nullptr;
  return is_served ? readlinkat(directory, path, buffer, size)
                   : FERMATA_REAL(__readlinkat_chk)(directory, path, buffer, size, room);
}

FERMATA_FILE(int, mkdir, (const char* path, mode_t mode), (path, mode), noexcept,
             files->make_directory(at(path), mode))
FERMATA_FILE(int, mkdirat, (int directory, const char* path, mode_t mode), (directory, path, mode),
             noexcept, files->make_directory(at(directory, path), mode))
FERMATA_FILE(int, rmdir, (const char* path), (path), noexcept, files->remove_directory(at(path)))

mode_t umask(mode_t mask) noexcept {
  Files* const files = files_for(__builtin_return_address(0));
  return files == nullptr ? FERMATA_REAL(umask)(mask) : files->exchange_mask(mask);
}

}  // extern "C"
