// SPDX-License-Identifier: Apache-2.0

// Files that are mapped into memory.

#include "fermata/base/assert.hpp"
#include "fermata/sim/fs/disk.hpp"

namespace fermata::sim {

int Disk::map(Inode inode, bool writes) {
  FERMATA_ASSERT(!is_directory(inode));
  Node& node = at(inode);
  if (node.memory == nullptr) node.memory = FileMemory::make(node.image.seen());
  if (node.memory == nullptr) return -1;
  ++node.memory->maps;
  if (writes) node.memory->may_change();
  FERMATA_ASSERT(node.memory->descriptor() >= 0);
  return node.memory->descriptor();
}

void Disk::unmap(Inode inode) {
  Node& node = at(inode);
  if (node.memory == nullptr) return;  // The machine went down.
  FERMATA_ASSERT(node.memory->maps > 0);
  take_in(inode);
  if (--node.memory->maps > 0) return;
  node.memory.reset();
  forget_if_unused(inode);
}

// As Linux does, without a word to those who watch.
void Disk::take_in(Inode inode) {
  FERMATA_ASSERT(inode != 0);
  Node& node = at(inode);
  if (node.memory == nullptr) return;
  const std::vector<std::byte>& seen = node.image.seen();  // Changes in pages that are done with.
  node.memory->compare(seen, [&](std::uint64_t offset, std::span<const std::byte> bytes) {
    ++version_;
    node.image.write(offset, bytes);
    node.modified = node.changed = now_;
    node.change = ++changes_made_;
  });
}

void Disk::take_in_maps() {
  for (auto& [inode, node] : nodes_) take_in(inode);
}

void Disk::forget_maps() {
  take_in_maps();
  for (auto& [inode, node] : nodes_) node.memory.reset();
}

}  // namespace fermata::sim
