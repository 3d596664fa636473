// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <vector>

#include "fermata/sim/fs/disk.hpp"
#include "fermata/sim/posix/description.hpp"

namespace fermata::sim::detail {

/// A type as stat() gives it.
[[nodiscard]] inline mode_t type_bits(FileType type) noexcept {
  switch (type) {
    case FileType::Directory:
      return S_IFDIR;
    case FileType::SymbolicLink:
      return S_IFLNK;
    case FileType::Other:
      return S_IFSOCK;
    case FileType::Regular:
      break;
  }
  return S_IFREG;
}

/// An open file or directory of the machine's disk. It does not read and write by itself: that
/// takes time.
class OpenFile final : public Description {
 public:
  struct Entry {
    std::string name;
    Disk::Inode inode;
    FileType type;
  };

  /// `inode` is pinned, and let go when this ends. `path` is for people and in keys of draws.
  OpenFile(Machine& machine, std::uint64_t serial, Disk& disk, Disk::Inode inode, std::string path,
           int flags);
  ~OpenFile() override;

  [[nodiscard]] std::string state() override { return "'" + path_ + "'"; }
  [[nodiscard]] std::string maker() override { return "nobody: it is a file"; }
  [[nodiscard]] OpenFile* as_file() noexcept override { return this; }
  [[nodiscard]] int readable_bytes() override;
  [[nodiscard]] bool can_be_watched() const noexcept override { return false; }
  [[nodiscard]] Readiness readiness() override { return EPOLLIN | EPOLLOUT; }

  [[nodiscard]] Disk::Inode inode() const noexcept { return inode_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] bool is_directory() const noexcept { return is_directory_; }
  /// Why it cannot be read, a negative errno, or 0; written likewise.
  [[nodiscard]] int refuse_reading() const noexcept;
  [[nodiscard]] int refuse_writing() const noexcept;
  /// What a directory contained when it was first asked, or asked again from the beginning; "." and
  /// ".." included.
  [[nodiscard]] const std::vector<Entry>& entries();
  /// Asks again when it is next asked.
  void forget_entries() noexcept { entries_.clear(); }

  /// Where the next read or write begins; of a directory, the next entry.
  off64_t offset = 0;

 private:
  Disk& disk_;
  std::uint64_t life_;  // Of the disk.
  Disk::Inode inode_;
  std::string path_;
  bool is_directory_;
  std::vector<Entry> entries_;
};

}  // namespace fermata::sim::detail
