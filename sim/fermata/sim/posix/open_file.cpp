// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/open_file.hpp"

#include <fcntl.h>

#include <algorithm>
#include <climits>
#include <utility>

#include "fermata/base/assert.hpp"

namespace fermata::sim::detail {

OpenFile::OpenFile(Machine& machine, std::uint64_t serial, Disk& disk, Disk::Inode inode,
                   std::string path, int flags)
    : Description(machine, "file", serial),
      disk_(disk),
      life_(disk.life()),
      inode_(inode),
      path_(std::move(path)),
      is_directory_(disk.attributes(inode).type == FileType::Directory) {
  constexpr int kOnlyAtOpen = O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_CLOEXEC;
  constexpr int kLargeFile = 0100000;  // Which the C library has as 0 where all files may be large.
  constexpr int kOfPaths = O_PATH | O_DIRECTORY | O_NOFOLLOW;
  status = (flags & O_PATH) != 0 ? flags & kOfPaths : (flags & ~kOnlyAtOpen) | kLargeFile;
}

OpenFile::~OpenFile() {
  if (life_ != disk_.life()) return;
  disk_.locks().records.clear(this);
  disk_.locks().whole.clear(this);
  const bool writes = refuse_writing() == 0;
  if ((status & O_PATH) == 0) {
    disk_.note(inode_, writes ? DiskChange::ClosedByWriter : DiskChange::Closed);
  }
  disk_.release(inode_);
}

int OpenFile::readable_bytes() {
  if (is_directory_) return -ENOTTY;
  const auto size = static_cast<std::int64_t>(disk_.attributes(inode_).size);
  return static_cast<int>(std::clamp<std::int64_t>(size - offset, INT_MIN, INT_MAX));
}

int OpenFile::refuse_reading() const noexcept {
  if ((status & O_PATH) != 0 || (status & O_ACCMODE) == O_WRONLY) return -EBADF;
  return is_directory_ ? -EISDIR : 0;
}

int OpenFile::refuse_writing() const noexcept {
  return (status & O_PATH) != 0 || (status & O_ACCMODE) == O_RDONLY ? -EBADF : 0;
}

const std::vector<OpenFile::Entry>& OpenFile::entries() {
  if (!entries_.empty()) return entries_;
  FERMATA_ASSERT(is_directory_);
  entries_.push_back({".", inode_, FileType::Directory});
  entries_.push_back({"..", disk_.parent(inode_), FileType::Directory});
  for (const auto& [name, inode] : disk_.names(inode_)) {
    entries_.push_back({name, inode, disk_.attributes(inode).type});
  }
  return entries_;
}

}  // namespace fermata::sim::detail
