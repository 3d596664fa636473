// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/file_locks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fermata/core/wait_facts.hpp"

namespace fermata::sim::detail {

std::optional<FileLocks::Lock> FileLocks::obstacle(Disk::Inode inode, const Lock& wanted) const {
  const auto all = locks_.find(inode);
  if (all == locks_.end()) return std::nullopt;
  const auto found = std::find_if(all->second.begin(), all->second.end(), [&](const Lock& each) {
    return each.owner != wanted.owner && each.meets(wanted) && (each.exclusive || wanted.exclusive);
  });
  if (found == all->second.end()) return std::nullopt;
  return *found;
}

std::optional<FileLocks::Lock> FileLocks::own(Disk::Inode inode, const Lock& range) const {
  const auto all = locks_.find(inode);
  if (all == locks_.end()) return std::nullopt;
  for (const Lock& each : all->second) {
    if (each.owner == range.owner && each.meets(range)) return each;
  }
  return std::nullopt;
}

void FileLocks::set(Disk::Inode inode, const Lock& lock) {
  FERMATA_ASSERT(!obstacle(inode, lock));
  FERMATA_ASSERT(lock.begin < lock.end);
  cut(inode, lock);
  locks_[inode].push_back(lock);
  tell();  // What was exclusive may be shared now.
}

void FileLocks::clear(Disk::Inode inode, const Lock& lock) {
  cut(inode, lock);
  tell();
}

// A lock in the middle of another one leaves two parts of that.
void FileLocks::cut(Disk::Inode inode, const Lock& range) {
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
}

void FileLocks::tell() {
  for (LockWait* const each : waiting_) each->look();
}

LockWait::LockWait(Runtime& runtime, Machine& machine, const char* call, const std::string& path,
                   FileLocks& locks, Disk::Inode inode, const FileLocks::Lock& wanted)
    : Event(runtime, EventKind::Poll),
      machine_(machine),
      call_(call),
      path_(path),
      locks_(locks),
      inode_(inode),
      wanted_(wanted),
      report_(*this, &LockWait::tell) {}

std::string LockWait::info() const { return fmt::format("{} {}", call_, path_); }

void LockWait::explain_wait(backend::WaitFacts& facts, const CoroutineBase&) const {
  facts.is(call_, path_, nullptr);
  facts.outside("whoever has the lock");
}

void LockWait::arm() {
  FERMATA_ASSERT(!report_.is_scheduled());
  locks_.waiting_.push_back(this);
  look();
}

void LockWait::disarm() noexcept {
  report_.cancel();
  std::erase(locks_.waiting_, this);
}

void LockWait::look() {
  if (report_.is_scheduled() || locks_.obstacle(inode_, wanted_)) return;
  machine_.agenda().schedule(report_, machine_.earliest_visible_time(), machine_.key());
}

// Somebody else may have taken it.
void LockWait::tell() {
  if (!locks_.obstacle(inode_, wanted_)) notify({});
}

}  // namespace fermata::sim::detail
