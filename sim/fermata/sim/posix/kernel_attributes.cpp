// SPDX-License-Identifier: Apache-2.0

// What is known of files besides their contents.

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

#include "fermata/sim/posix/clock.hpp"
#include "fermata/sim/posix/device.hpp"
#include "fermata/sim/posix/kernel_files.hpp"

namespace fermata::sim::detail {

namespace {

constexpr std::uint64_t kBlock = 4096;
constexpr off64_t kDirectorySize = 4096;

timespec time_of(WallTime time) noexcept { return timespec_of(Duration(time.nanoseconds)); }

}  // namespace

void SimKernelFiles::fill(Disk::Inode inode, struct stat& status) const {
  constexpr unsigned kMajor = 8;
  const Disk::Attributes known = disk_.attributes(inode);
  const bool is_directory = known.type == FileType::Directory;
  status = {};
  status.st_dev = makedev(kMajor, 1);
  status.st_ino = inode;
  status.st_mode = type_bits(known.type) | known.permissions;
  status.st_nlink = static_cast<nlink_t>(known.links);  // Of other widths on other processors.
  status.st_uid = known.owner;
  status.st_gid = known.group;
  status.st_size = is_directory ? kDirectorySize : static_cast<off64_t>(known.size);
  status.st_blksize = kBlock;
  constexpr std::uint64_t kSectors = kBlock / 512;
  if (known.type != FileType::SymbolicLink) {
    const auto size = static_cast<std::uint64_t>(status.st_size);
    status.st_blocks = static_cast<blkcnt64_t>((size + kBlock - 1) / kBlock * kSectors);
  }
  status.st_atim = time_of(known.accessed);
  status.st_mtim = time_of(known.modified);
  status.st_ctim = time_of(known.changed);
}

int SimKernelFiles::status(Description& of, struct stat& status) {
  OpenFile* const file = of.as_file();
  if (file != nullptr) {
    return carry_out({"fstat", kStatus, file->path()}, [&](const DiskCall&) {
      fill(file->inode(), status);
      return 0;
    });
  }
  status = {};
  status.st_mode = of.mode();
  status.st_nlink = 1;
  status.st_ino = of.serial();
  status.st_blksize = kBlock;
  return 0;
}

int SimKernelFiles::status(const posix::Where& where, struct stat& status) {
  if (!where.has_path) return kernel_.fstat(where.descriptor, status);
  if (where.path != nullptr && Device::kind_of(where.path)) {
    status = {};
    status.st_mode = S_IFCHR | 0666;
    status.st_nlink = 1;
    return kernel_.enter("stat");
  }
  return with_inode("stat", kStatus, where, [&](Disk::Inode inode) {
    fill(inode, status);
    return 0;
  });
}

int SimKernelFiles::access(const posix::Where& where, int mode) {
  if ((mode & ~(R_OK | W_OK | X_OK)) != 0) return -EINVAL;
  if (where.path != nullptr && Device::kind_of(where.path)) return kernel_.enter("access");
  return with_inode("access", kStatus, where, [&](Disk::Inode inode) {
    constexpr std::uint32_t kExecutable = 0111;
    const Disk::Attributes known = disk_.attributes(inode);
    if ((mode & W_OK) != 0 && disk_.is_fixed(inode)) return -EROFS;
    const bool can_run =
        known.type == FileType::Directory || (known.permissions & kExecutable) != 0;
    return (mode & X_OK) != 0 && !can_run ? -EACCES : 0;
  });
}

int SimKernelFiles::change_mode(const posix::Where& where, mode_t mode) {
  return with_inode("chmod", kChange, where, [&](Disk::Inode inode) {
    if (disk_.attributes(inode).type == FileType::SymbolicLink) return -EOPNOTSUPP;
    disk_.set_permissions(inode, mode & kPermissions);
    disk_.note(inode, DiskChange::Attributes);
    return 0;
  });
}

int SimKernelFiles::change_owner(const posix::Where& where, uid_t owner, gid_t group) {
  return with_inode("chown", kChange, where, [&](Disk::Inode inode) {
    const Disk::Attributes known = disk_.attributes(inode);
    disk_.set_owner(inode, owner == static_cast<uid_t>(-1) ? known.owner : owner,
                    group == static_cast<gid_t>(-1) ? known.group : group);
    disk_.note(inode, DiskChange::Attributes);
    return 0;
  });
}

int SimKernelFiles::change_times(const posix::Where& where, const std::array<timespec, 2>& times) {
  constexpr long kBillion = 1'000'000'000;
  const auto is_special = [](const timespec& time) {
    return time.tv_nsec == UTIME_NOW || time.tv_nsec == UTIME_OMIT;
  };
  for (const timespec& each : times) {
    if (!is_special(each) && (each.tv_nsec < 0 || each.tv_nsec >= kBillion)) return -EINVAL;
  }
  return with_inode("utimensat", kChange, where, [&](Disk::Inode inode) {
    const Disk::Attributes known = disk_.attributes(inode);
    const auto chosen = [&](const timespec& time, WallTime before) {
      if (time.tv_nsec == UTIME_OMIT) return before;
      if (time.tv_nsec == UTIME_NOW) return machine_.clock().wall(machine_.now());
      return WallTime{duration_of(time).count()};
    };
    const bool keeps_access = times[0].tv_nsec == UTIME_OMIT;
    const bool keeps_change = times[1].tv_nsec == UTIME_OMIT;
    if (keeps_access && keeps_change) return 0;
    disk_.set_times(inode, chosen(times[0], known.accessed), chosen(times[1], known.modified));
    disk_.note(inode, keeps_access   ? DiskChange::Changed
                      : keeps_change ? DiskChange::Read
                                     : DiskChange::Attributes);
    return 0;
  });
}

int SimKernelFiles::space(const posix::Where& where, struct statvfs& space) {
  return with_inode("statvfs", kStatus, where, [&](Disk::Inode) {
    constexpr fsfilcnt64_t kInodes = 1'000'000;
    space = {};
    space.f_bsize = space.f_frsize = kBlock;
    space.f_blocks = disk_.capacity() / kBlock;
    space.f_bfree = space.f_bavail = disk_.room() / kBlock;
    space.f_files = kInodes;
    space.f_ffree = space.f_favail = kInodes;
    space.f_fsid = 1;
    space.f_namemax = NAME_MAX;
    return 0;
  });
}

}  // namespace fermata::sim::detail
