// SPDX-License-Identifier: Apache-2.0

// Names of files.

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/sim/posix/kernel_files.hpp"

namespace fermata::sim::detail {

// --- places ---

int SimKernelFiles::locate(const posix::Where& where, Place& place) {
  const int code = begin_at(where, place);
  if (code == 0) place.is_real = is_real(place);
  return code;
}

int SimKernelFiles::locate_to_change(const posix::Where& where, Place& place) {
  const int code = locate(where, place);
  return code == 0 && place.is_real && is_shown(path_of(place)) ? -EROFS : code;
}

int SimKernelFiles::begin_at(const posix::Where& where, Place& place) {
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

// --- names ---

int SimKernelFiles::make_directory(const posix::Where& where, mode_t mode) {
  constexpr mode_t kKeptMode = 01777;
  return at_place("mkdir", kMakeDirectory, where,
                  [&](const DiskCall& work, const Place& place) -> int {
                    if (!disk_.exists(place.where()) && faults_.finds_no_space(work))
                      return -ENOSPC;
                    if (const int code = disk_.make_directory(place.where(), mode)) return -code;
                    Disk::Inode made = 0;
                    [[maybe_unused]] const int code = disk_.find(place.where(), made);
                    FERMATA_ASSERT(code == 0);
                    disk_.set_permissions(made, mode & kKeptMode & ~mask_);
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
  if (const int code = locate_to_change(from, source)) return code;
  const int target_code = locate_to_change(to, target);
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
  if (const int code = locate_to_change(from, source)) return code;
  const int target_code = locate_to_change(to, target);
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
  kernel_.drop_if_endless();
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
        const unsigned char type = IFTODT(type_bits(entry.type));
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
