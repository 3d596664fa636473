// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/fs/file_locks.hpp"

#include <algorithm>
#include <utility>

#include "fermata/base/assert.hpp"

namespace fermata::sim::detail {

const FileLocks::Lock* FileLocks::obstacle(Inode inode, const Lock& wanted) const {
  FERMATA_ASSERT(wanted.owner != nullptr);
  const auto all = locks_.find(inode);
  if (all == locks_.end()) return nullptr;
  const auto found = std::find_if(all->second.begin(), all->second.end(), [&](const Lock& each) {
    return each.owner != wanted.owner && each.meets(wanted) && (each.exclusive || wanted.exclusive);
  });
  return found == all->second.end() ? nullptr : &*found;
}

const FileLocks::Lock* FileLocks::own(Inode inode, const Lock& range) const {
  FERMATA_ASSERT(range.owner != nullptr);
  const auto all = locks_.find(inode);
  if (all == locks_.end()) return nullptr;
  const auto found = std::find_if(all->second.begin(), all->second.end(), [&](const Lock& each) {
    return each.owner == range.owner && each.meets(range);
  });
  return found == all->second.end() ? nullptr : &*found;
}

void FileLocks::set(Inode inode, const Lock& lock) {
  FERMATA_ASSERT(lock.owner != nullptr);
  FERMATA_ASSERT(obstacle(inode, lock) == nullptr);
  FERMATA_ASSERT(lock.begin < lock.end);
  cut(inode, lock);
  locks_[inode].push_back(lock);
  tell();  // What was exclusive may be shared now.
}

void FileLocks::clear(Inode inode, const Lock& range) {
  cut(inode, range);
  tell();
}

void FileLocks::clear(Owner owner) {
  FERMATA_ASSERT(owner != nullptr);
  for (auto all = locks_.begin(); all != locks_.end();) {
    std::erase_if(all->second, [&](const Lock& each) { return each.owner == owner; });
    all = all->second.empty() ? locks_.erase(all) : std::next(all);
  }
  tell();
}

// A lock in the middle of another one leaves two parts of that.
void FileLocks::cut(Inode inode, const Lock& range) {
  FERMATA_ASSERT(range.begin < range.end);
  const auto all = locks_.find(inode);
  if (all == locks_.end()) return;
  std::vector<Lock> left;
  for (const Lock& each : all->second) {
    if (each.owner != range.owner || !each.meets(range)) {
      left.push_back(each);
      continue;
    }
    Lock part = each;
    part.end = range.begin;
    if (part.begin < part.end) left.push_back(part);
    part = each;
    part.begin = range.end;
    if (part.begin < part.end) left.push_back(part);
  }
  all->second = std::move(left);
  if (all->second.empty()) locks_.erase(all);
  FERMATA_ASSERT(own(inode, range) == nullptr);
}

void FileLocks::tell() const {
  for (Waiter* const each : waiting_) each->look();
}

void FileLocks::explain(Inode inode, const Lock& wanted, backend::WaitFacts& facts) const {
  facts.wanted(wanted.exclusive ? "lock" : "lock shared");
  const auto all = locks_.find(inode);
  bool is_known = false;
  if (all != locks_.end()) {
    for (const Lock& each : all->second) {
      const bool hinders =
          each.owner != wanted.owner && each.meets(wanted) && (each.exclusive || wanted.exclusive);
      if (!hinders || each.holder.runtime == nullptr) continue;
      facts.in_hands_of(each.holder, "locked by");
      is_known = true;
    }
  }
  if (!is_known) facts.outside("whoever has the lock");
}

}  // namespace fermata::sim::detail
