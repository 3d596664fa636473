// SPDX-License-Identifier: Apache-2.0

// What calls do with names of files, and with what is known of files.

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstring>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/sim/posix/clock.hpp"
#include "fermata/sim/posix/device.hpp"
#include "fermata/sim/posix/kernel_files.hpp"

namespace fermata::sim::detail {

namespace {

constexpr std::uint64_t kBlock = 4096;
constexpr mode_t kPermissions = 07777;
constexpr off64_t kDirectorySize = 4096;

mode_t type_bits(FileType type) noexcept {
  return type == FileType::Directory ? S_IFDIR : type == FileType::SymbolicLink ? S_IFLNK : S_IFREG;
}

unsigned char entry_type(FileType type) noexcept { return IFTODT(type_bits(type)); }

timespec timespec_of(WallTime time) noexcept {
  return detail::timespec_of(Duration(time.nanoseconds));
}

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

// --- places ---

int SimKernelFiles::locate(const posix::Where& where, Place& place) {
  int code = 0;
  std::shared_ptr<Description> found;
  const bool is_descriptor = where.descriptor != AT_FDCWD;
  place.last = where.follows ? Disk::Last::IsFollowed : Disk::Last::IsTaken;
  if (where.has_path) {
    if (where.path == nullptr) return -EFAULT;
    const std::size_t size = std::strlen(where.path);
    if (size == 0) return -ENOENT;
    if (size >= PATH_MAX) return -ENAMETOOLONG;
    place.path = place.shown = where.path;
    place.from = Disk::kRoot;
    if (where.path[0] == '/') return 0;
    if (!is_descriptor && directory_ == nullptr) return 0;
  }
  if (is_descriptor) {
    found = kernel_.share(where.descriptor, code);
    if (found == nullptr) return code;
  } else {
    found = directory_;
  }
  OpenFile* const file = found == nullptr ? nullptr : found->as_file();
  if (!where.has_path) {
    if (file == nullptr) return -EINVAL;
    place.file = std::static_pointer_cast<OpenFile>(found);
    place.shown = file->path();
    return 0;
  }
  if (file == nullptr || !file->is_directory()) return -ENOTDIR;
  place.from = file->inode();
  const std::string directory = disk_.path_of(place.from);
  if (!directory.empty()) place.shown = directory + "/" + place.path;
  return 0;
}

int SimKernelFiles::find(const Place& place, Disk::Inode& found) const {
  if (place.file != nullptr) {
    found = place.file->inode();
    return 0;
  }
  return -disk_.find(place.where(), found, place.last);
}

// --- opening ---

int SimKernelFiles::open(const posix::Where& where, int flags, mode_t mode) {
  kernel_.leave_if_endless();
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
  return kernel_.open(make_file(inode, std::move(path), flags), flags);
}

std::shared_ptr<OpenFile> SimKernelFiles::make_file(Disk::Inode inode, std::string path,
                                                    int flags) {
  return std::make_shared<OpenFile>(machine_, kernel_.table_.next_serial(), disk_, locks_, inode,
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
  if (creates && (place.path.ends_with('/') || code == ENOTDIR)) return refuse_slash(place, wanted);
  if (code != 0) {
    if (code != ENOENT || !creates) return -code;
    return create(work, place, wanted, mode, opened);
  }
  const FileType type = disk_.attributes(opened).type;
  if (exclusive) return -EEXIST;
  if (creates && type == FileType::Directory) return -EISDIR;
  if (must_be_directory && type != FileType::Directory) return -ENOTDIR;
  if (type == FileType::SymbolicLink && !only_path) return -ELOOP;
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

// --- what is known of files ---

void SimKernelFiles::fill(Disk::Inode inode, struct stat& status) const {
  constexpr unsigned kMajor = 8;
  const Disk::Attributes known = disk_.attributes(inode);
  const bool is_directory = known.type == FileType::Directory;
  status = {};
  status.st_dev = makedev(kMajor, 1);
  status.st_ino = inode;
  status.st_mode = type_bits(known.type) | known.permissions;
  status.st_nlink = known.links;
  status.st_uid = known.owner;
  status.st_gid = known.group;
  status.st_size = is_directory ? kDirectorySize : static_cast<off64_t>(known.size);
  status.st_blksize = kBlock;
  constexpr std::uint64_t kSectors = kBlock / 512;
  if (known.type != FileType::SymbolicLink) {
    const auto size = static_cast<std::uint64_t>(status.st_size);
    status.st_blocks = static_cast<blkcnt64_t>((size + kBlock - 1) / kBlock * kSectors);
  }
  status.st_atim = timespec_of(known.accessed);
  status.st_mtim = timespec_of(known.modified);
  status.st_ctim = timespec_of(known.changed);
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
    const bool can_run =
        known.type == FileType::Directory || (known.permissions & kExecutable) != 0;
    return (mode & X_OK) != 0 && !can_run ? -EACCES : 0;
  });
}

int SimKernelFiles::change_mode(const posix::Where& where, mode_t mode) {
  return with_inode("chmod", kChange, where, [&](Disk::Inode inode) {
    if (disk_.attributes(inode).type == FileType::SymbolicLink) return -EOPNOTSUPP;
    disk_.set_permissions(inode, mode & kPermissions);
    return 0;
  });
}

int SimKernelFiles::change_owner(const posix::Where& where, uid_t owner, gid_t group) {
  return with_inode("chown", kChange, where, [&](Disk::Inode inode) {
    const Disk::Attributes known = disk_.attributes(inode);
    disk_.set_owner(inode, owner == static_cast<uid_t>(-1) ? known.owner : owner,
                    group == static_cast<gid_t>(-1) ? known.group : group);
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
    disk_.set_times(inode, chosen(times[0], known.accessed), chosen(times[1], known.modified));
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

// --- names ---

int SimKernelFiles::make_directory(const posix::Where& where, mode_t mode) {
  constexpr mode_t kKept = 01777;
  return at_place("mkdir", kMakeDirectory, where,
                  [&](const DiskCall& work, const Place& place) -> int {
                    if (!disk_.exists(place.where()) && faults_.finds_no_space(work))
                      return -ENOSPC;
                    if (const int code = disk_.make_directory(place.where(), mode)) return -code;
                    Disk::Inode made = 0;
                    [[maybe_unused]] const int code = disk_.find(place.where(), made);
                    FERMATA_ASSERT(code == 0);
                    disk_.set_permissions(made, mode & kKept & ~mask_);
                    return 0;
                  });
}

int SimKernelFiles::remove(const posix::Where& where) {
  return at_place("unlink", kRemove, where, [&](const DiskCall&, const Place& place) {
    return -disk_.remove(place.where());
  });
}

int SimKernelFiles::remove_directory(const posix::Where& where) {
  return at_place("rmdir", kRemoveDirectory, where, [&](const DiskCall&, const Place& place) {
    return -disk_.remove_directory(place.where());
  });
}

/// The directory that a name is in.
int SimKernelFiles::look_for_directory(const Place& place) const {
  const std::size_t end = place.path.find_last_not_of('/');
  const std::size_t slash = end == std::string::npos ? end : place.path.rfind('/', end);
  if (slash == std::string::npos) return 0;
  Disk::Inode directory = 0;
  return -disk_.find({place.path.substr(0, slash + 1), place.from}, directory);
}

int SimKernelFiles::rename(const posix::Where& from, const posix::Where& to, unsigned flags) {
  if (const int code = kernel_.enter("rename")) return code;
  if ((flags & ~static_cast<unsigned>(RENAME_NOREPLACE)) != 0) return -EINVAL;
  Place source;
  Place target;
  if (const int code = locate(from, source)) return code;
  const int target_code = locate(to, target);
  if (target_code != 0) {  // What is wrong with the directory of the old name is told first.
    const int code = look_for_directory(source);
    return code != 0 ? code : target_code;
  }
  return carry_out({"rename", kRename, source.shown, target.shown}, [&](const DiskCall&) -> int {
    const bool may_replace = (flags & RENAME_NOREPLACE) == 0;
    return -disk_.rename(source.where(), target.where(), may_replace);
  });
}

int SimKernelFiles::link(const posix::Where& from, const posix::Where& to) {
  if (const int code = kernel_.enter("link")) return code;
  Place source;
  Place target;
  if (const int code = locate(from, source)) return code;
  const int target_code = locate(to, target);
  return carry_out({"link", kLink, source.shown, target.shown}, [&](const DiskCall& work) -> int {
    Disk::Inode linked = 0;
    if (const int code = find(source, linked)) return code;
    if (target_code != 0) return target_code;
    if (faults_.finds_no_space(work)) return -ENOSPC;
    return -disk_.link(linked, target.where());
  });
}

int SimKernelFiles::make_link(const char* target, const posix::Where& where) {
  if (target == nullptr) return -EFAULT;
  if (target[0] == '\0') return -ENOENT;
  if (std::strlen(target) >= PATH_MAX) return -ENAMETOOLONG;
  return at_place("symlink", kMakeLink, where,
                  [&](const DiskCall& work, const Place& place) -> int {
                    if (!disk_.exists(place.where()) && faults_.finds_no_space(work))
                      return -ENOSPC;
                    return -disk_.make_link(target, place.where());
                  });
}

ssize_t SimKernelFiles::read_link(const posix::Where& where, std::span<char> room) {
  if (room.empty()) return -EINVAL;
  posix::Where link = where;
  link.follows = false;
  return with_inode("readlink", kReadLink, link, [&](Disk::Inode inode) -> int {
    if (disk_.attributes(inode).type != FileType::SymbolicLink) return -EINVAL;
    const std::string& target = disk_.target(inode);
    const std::size_t size = std::min(target.size(), room.size());
    std::memcpy(room.data(), target.data(), size);
    return static_cast<int>(size);
  });
}

// --- directories ---

int SimKernelFiles::change_directory(const posix::Where& where) {
  if (const int code = kernel_.enter("chdir")) return code;
  Place place;
  if (const int code = locate(where, place)) return code;
  Disk::Inode found = 0;
  if (const int code = find(place, found)) return code;
  if (disk_.attributes(found).type != FileType::Directory) return -ENOTDIR;
  disk_.share(found);
  directory_ = make_file(found, disk_.path_of(found), O_PATH);
  return 0;
}

int SimKernelFiles::current_directory(std::string& path) {
  if (const int code = kernel_.enter("getcwd")) return code;
  path = "/";
  if (directory_ == nullptr) return 0;
  if (!disk_.is_named(directory_->inode())) return -ENOENT;
  path += disk_.path_of(directory_->inode());
  return 0;
}

mode_t SimKernelFiles::exchange_mask(mode_t mask) {
  constexpr mode_t kMask = 0777;
  return std::exchange(mask_, mask & kMask);
}

ssize_t SimKernelFiles::read_directory(int descriptor, std::span<std::byte> room) {
  kernel_.leave_if_endless();
  return with_file("getdents64", descriptor, -ENOTDIR, [&](OpenFile& file) -> ssize_t {
    if (!file.is_directory()) return -ENOTDIR;
    if ((file.status & O_PATH) != 0) return -EBADF;
    if (!disk_.is_named(file.inode())) return -ENOENT;
    return carry_out({"getdents64", kList, file.path()}, [&](const DiskCall&) -> ssize_t {
      const std::vector<OpenFile::Entry>& entries = file.entries();
      std::size_t used = 0;
      while (static_cast<std::size_t>(file.offset) < entries.size()) {
        const OpenFile::Entry& entry = entries[static_cast<std::size_t>(file.offset)];
        constexpr std::size_t kAlign = alignof(dirent64);
        const std::size_t size =
            (offsetof(dirent64, d_name) + entry.name.size() + 1 + kAlign - 1) / kAlign * kAlign;
        if (used + size > room.size()) return used > 0 ? static_cast<ssize_t>(used) : -EINVAL;
        std::byte* const at = room.data() + used;
        std::memset(at, 0, size);
        const std::uint64_t next = static_cast<std::uint64_t>(++file.offset);
        const auto length = static_cast<unsigned short>(size);
        const unsigned char type = entry_type(entry.type);
        std::memcpy(at + offsetof(dirent64, d_ino), &entry.inode, sizeof entry.inode);
        std::memcpy(at + offsetof(dirent64, d_off), &next, sizeof next);
        std::memcpy(at + offsetof(dirent64, d_reclen), &length, sizeof length);
        std::memcpy(at + offsetof(dirent64, d_type), &type, sizeof type);
        std::memcpy(at + offsetof(dirent64, d_name), entry.name.data(), entry.name.size());
        used += size;
      }
      return static_cast<ssize_t>(used);
    });
  });
}

}  // namespace fermata::sim::detail
