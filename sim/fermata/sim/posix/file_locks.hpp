// SPDX-License-Identifier: Apache-2.0
#pragma once

// Locks of files, as of fcntl(2) and flock(2): who has which part of which file.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fermata/core/event.hpp"
#include "fermata/sim/fs/disk.hpp"
#include "fermata/sim/machine/machine.hpp"
#include "fermata/sim/machine/member_happening.hpp"

namespace fermata::sim::detail {

class LockWait;

class FileLocks {
 public:
  /// Who may have several locks; null: the process.
  using Owner = const void*;
  static constexpr std::int64_t kEnd = INT64_MAX;

  struct Lock {
    Owner owner = nullptr;
    bool exclusive = false;
    std::int64_t begin = 0;
    std::int64_t end = kEnd;  // Behind its last byte.

    [[nodiscard]] bool meets(const Lock& other) const noexcept {
      return begin < other.end && other.begin < end;
    }
  };

  /// A lock of another owner that `wanted` cannot be beside.
  [[nodiscard]] std::optional<Lock> obstacle(Disk::Inode inode, const Lock& wanted) const;
  /// A lock of the owner of `range` that meets it.
  [[nodiscard]] std::optional<Lock> own(Disk::Inode inode, const Lock& range) const;
  /// In place of what its owner has there. REQUIRES: no obstacle.
  void set(Disk::Inode inode, const Lock& lock);
  /// Gives up what `lock.owner` has in its range.
  void clear(Disk::Inode inode, const Lock& lock);
  /// Gives up all.
  void clear() noexcept { locks_.clear(); }

 private:
  friend class LockWait;

  void cut(Disk::Inode inode, const Lock& range);
  void tell();

  std::map<Disk::Inode, std::vector<Lock>> locks_;
  std::vector<LockWait*> waiting_;
};

/// The locks of one process.
struct ProcessLocks {
  FileLocks records;  // Of fcntl().
  FileLocks whole;    // Of flock().
};

/// Fires when there is no obstacle to a lock any more. Lives in the frame of a coroutine that waits
/// for it.
class LockWait final : public Event {
 public:
  /// `call` is what reports call the wait.
  LockWait(Runtime& runtime, Machine& machine, const char* call, const std::string& path,
           FileLocks& locks, Disk::Inode inode, const FileLocks::Lock& wanted);
  ~LockWait() override { close(); }

  [[nodiscard]] std::string info() const override;
  void explain_wait(backend::WaitFacts& facts, const CoroutineBase& waiter) const override;

 private:
  friend class FileLocks;

  void arm() override;
  void disarm() noexcept override;
  void dispose() noexcept override {}
  void look();
  void tell();

  Machine& machine_;
  const char* call_;
  const std::string& path_;
  FileLocks& locks_;
  Disk::Inode inode_;
  FileLocks::Lock wanted_;
  MemberHappening<LockWait> report_;
};

}  // namespace fermata::sim::detail
