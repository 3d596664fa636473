// SPDX-License-Identifier: Apache-2.0
#pragma once

// Locks of the files of one machine, of programs on Fermata and of foreign code alike: who has
// which part of which file. They are gone when the machine crashes.

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "fermata/core/wait_facts.hpp"

namespace fermata::sim::detail {

/// The locks of the files of one machine.
class FileLocks {
 public:
  using Inode = std::uint64_t;
  /// Who may have several locks: an open file, or a process.
  using Owner = const void*;
  static constexpr std::int64_t kEnd = INT64_MAX;

  struct Lock {
    Owner owner = nullptr;
    bool exclusive = false;
    int process = 0;  // The number of the process that owns it; 0: an open file does.
    std::int64_t begin = 0;
    std::int64_t end = kEnd;     // Behind its last byte.
    backend::WaitPerson holder;  // For people.

    [[nodiscard]] bool meets(const Lock& other) const noexcept {
      return begin < other.end && other.begin < end;
    }
  };

  /// Somebody who waits for a lock.
  class Waiter {
   public:
    /// Locks have changed.
    virtual void look() = 0;

   protected:
    ~Waiter() = default;
  };

  /// A lock of another owner that `wanted` cannot be beside; null when there is none. Good until
  /// the next change.
  [[nodiscard]] const Lock* obstacle(Inode inode, const Lock& wanted) const;
  /// A lock of the owner of `range` that meets it; null when there is none. Good until the
  /// next change.
  [[nodiscard]] const Lock* own(Inode inode, const Lock& range) const;
  /// Takes `lock`, in place of what its owner has in that range. REQUIRES: no obstacle.
  void set(Inode inode, const Lock& lock);
  /// Gives up what `range.owner` has in its range.
  void clear(Inode inode, const Lock& range);
  /// Gives up all that `owner` has.
  void clear(Owner owner);
  /// Gives up all.
  void clear() noexcept { locks_.clear(); }

  void add(Waiter& waiter) { waiting_.push_back(&waiter); }
  void remove(Waiter& waiter) noexcept { std::erase(waiting_, &waiter); }

  /// Tells a report who keeps `wanted` waiting.
  void explain(Inode inode, const Lock& wanted, backend::WaitFacts& facts) const;

 private:
  void cut(Inode inode, const Lock& range);
  void tell() const;

  std::map<Inode, std::vector<Lock>> locks_;
  std::vector<Waiter*> waiting_;
};

/// The locks of one machine, of two kinds that do not meet, as on Linux.
struct MachineLocks {
  FileLocks records;  // By fcntl().
  FileLocks whole;    // By flock() and fermata::File.

  void clear() noexcept {
    records.clear();
    whole.clear();
  }
};

}  // namespace fermata::sim::detail
