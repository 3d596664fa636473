// SPDX-License-Identifier: Apache-2.0

// How files are opened.

#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>
#include <string>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/sim/posix/device.hpp"
#include "fermata/sim/posix/kernel_files.hpp"

namespace fermata::sim::detail {

namespace {

bool writes(int flags) noexcept { return (flags & O_ACCMODE) != O_RDONLY; }

/// Why nothing is opened with these flags, a negative errno, or 0.
int refuse_flags(int flags) noexcept {
  constexpr int kTemporary = O_TMPFILE & ~O_DIRECTORY;
  if ((flags & O_PATH) != 0) return 0;
  const bool must_be_directory = (flags & O_DIRECTORY) != 0;
  if ((flags & O_CREAT) != 0 && must_be_directory) return -EINVAL;
  if ((flags & kTemporary) == 0) return 0;
  return must_be_directory && writes(flags) ? -EOPNOTSUPP : -EINVAL;
}

}  // namespace

int SimKernelFiles::open(const posix::Where& where, int flags, mode_t mode) {
  kernel_.leave_if_endless();
  return open_without_leaving(where, flags, mode);
}

int SimKernelFiles::open_directory(const posix::Where& where) {
  kernel_.drop_if_endless();
  constexpr int kFlags = O_RDONLY | O_NONBLOCK | O_DIRECTORY | O_CLOEXEC;
  return open_without_leaving(where, kFlags, 0);
}

int SimKernelFiles::open_without_leaving(const posix::Where& where, int flags, mode_t mode) {
  if (const int code = refuse_flags(flags)) return code;
  if (where.path != nullptr && Device::kind_of(where.path)) return open_device(where.path, flags);
  Disk::Inode inode = 0;
  std::string path;
  const int code =
      at_place("open", kOpen, where, [&](const DiskCall& work, const Place& place) -> int {
        path = place.shown;
        if (kernel_.table_.is_full("file")) return -EMFILE;
        return open_at(work, place, flags, mode, inode);
      });
  if (code != 0) return code;
  if ((flags & O_PATH) == 0) disk_.note(inode, DiskChange::Opened);
  return kernel_.open(make_file(inode, std::move(path), flags), flags);
}

std::shared_ptr<OpenFile> SimKernelFiles::make_file(Disk::Inode inode, std::string path,
                                                    int flags) {
  return std::make_shared<OpenFile>(machine_, kernel_.table_.next_serial(), disk_, inode,
                                    std::move(path), flags);
}

int SimKernelFiles::open_at(const DiskCall& work, const Place& place, int flags, mode_t mode,
                            Disk::Inode& opened) {
  const bool only_path = (flags & O_PATH) != 0;
  const bool creates = (flags & O_CREAT) != 0 && !only_path;
  const bool exclusive = creates && (flags & O_EXCL) != 0;
  const bool must_be_directory = (flags & O_DIRECTORY) != 0;
  const bool takes_link = exclusive || (flags & O_NOFOLLOW) != 0;
  const int code =
      disk_.find(place.where(), opened, takes_link ? Disk::Last::IsTaken : Disk::Last::IsFollowed);
  const OpenMode wanted{.read = true,
                        .write = !only_path && writes(flags),
                        .create = creates,
                        .exclusive = exclusive,
                        .truncate = !only_path && (flags & O_TRUNC) != 0};
  const bool is_found = code == 0 || (code == ENOENT && creates);
  if (place.is_real && (wanted.write || wanted.truncate)) return is_found ? -EROFS : -code;
  if (creates && (place.path.ends_with('/') || code == ENOTDIR)) return refuse_slash(place, wanted);
  if (code != 0) {
    if (code != ENOENT || !creates) return -code;
    if (place.is_real) return -EROFS;
    return create(work, place, wanted, mode, opened);
  }
  const FileType type = disk_.attributes(opened).type;
  if (exclusive) return -EEXIST;
  if (creates && type == FileType::Directory) return -EISDIR;
  if (must_be_directory && type != FileType::Directory) return -ENOTDIR;
  if (type == FileType::SymbolicLink && !only_path) return -ELOOP;
  if (type == FileType::Other && !only_path) return -ENXIO;
  if (type == FileType::Directory && (wanted.write || wanted.truncate)) return -EISDIR;
  FERMATA_ASSERT(opened != 0);
  if (wanted.truncate) static_cast<void>(disk_.truncate(opened, 0));
  disk_.share(opened);
  return 0;
}

// What has a slash behind it is a directory, and none is made.
int SimKernelFiles::refuse_slash(const Place& place, const OpenMode& mode) {
  Disk::Inode opened = 0;
  OpenMode taken = mode;
  taken.exclusive = place.path.ends_with('/');  // So that a link is not followed.
  const int code = disk_.open(place.where(), taken, opened);
  if (code == 0) disk_.release(opened);
  return code == 0 || (code == EEXIST && !mode.exclusive) ? -EISDIR : -code;
}

int SimKernelFiles::create(const DiskCall& work, const Place& place, const OpenMode& mode,
                           mode_t permissions, Disk::Inode& opened) {
  if (faults_.finds_no_space(work)) return -ENOSPC;
  if (const int code = disk_.open(place.where(), mode, opened)) return -code;
  disk_.set_permissions(opened, permissions & kPermissions & ~mask_);
  return 0;
}

int SimKernelFiles::open_device(const char* path, int flags) {
  if (const int code = kernel_.enter("open")) return code;
  if (kernel_.table_.is_full("device")) return -EMFILE;
  static_assert(O_NONBLOCK == SOCK_NONBLOCK && O_CLOEXEC == SOCK_CLOEXEC);
  return kernel_.open(std::make_shared<Device>(kernel_, machine_, kernel_.table_.next_serial(),
                                               *Device::kind_of(path), flags),
                      flags);
}

int SimKernelFiles::open_unnamed(int flags) {
  if (const int code = kernel_.enter("tmpfile")) return code;
  if (kernel_.table_.is_full("file")) return -EMFILE;
  constexpr std::uint32_t kPrivate = 0600;
  return kernel_.open(make_file(disk_.open_unnamed(kPrivate), "a file without a name", flags),
                      flags);
}

}  // namespace fermata::sim::detail
