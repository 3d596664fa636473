// SPDX-License-Identifier: Apache-2.0

// Files that are there from the beginning.

#include <utility>

#include "fermata/sim/base/key.hpp"
#include "fermata/sim/fs/disk.hpp"

namespace fermata::sim {

// The inode depends on the path, so that others have the inodes that they have without it.
Disk::Inode Disk::add_given(Inode directory, const std::string& name, FileType type) {
  constexpr Inode kFirst = Inode{1} << 48;
  constexpr WallTime kTime = {.nanoseconds = 946'684'800'000'000'000};  // The year 2000.
  constexpr std::uint32_t kFile = 0444;
  constexpr std::uint32_t kDirectory = 0555;
  FERMATA_ASSERT(is_directory(directory));
  FERMATA_ASSERT(!at(directory).names.contains(name));
  Node node;
  node.type = type;
  node.permissions = type == FileType::Directory ? kDirectory : kFile;
  node.modified = node.accessed = node.changed = kTime;
  node.key = key_of(at(directory).key, name);
  node.links = 1;
  node.parent = directory;
  node.is_given = true;
  Inode inode = kFirst | (node.key & (kFirst - 1));
  while (nodes_.contains(inode)) ++inode;
  nodes_.emplace(inode, std::move(node));
  at(directory).names[name] = inode;
  at(directory).durable_names[name] = inode;
  return inode;
}

void Disk::fill_given(Inode inode, std::span<const std::byte> contents) {
  Node& node = at(inode);
  FERMATA_ASSERT(node.is_given);
  node.image.resize(0);
  node.image.write(0, contents);
  node.image.sync();
}

}  // namespace fermata::sim
