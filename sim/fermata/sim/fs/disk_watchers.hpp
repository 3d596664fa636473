// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

namespace fermata::sim {

/// What happens to a name in a directory, or to a watched object itself.
enum class DiskChange : std::uint8_t {
  Appeared,
  Vanished,
  Changed,
  Gone,
  // A rename moves it: it vanishes there and appears here.
  MovedAway,
  MovedHere,
  MovedItself,
  // What the disk is told by others: see Disk::note().
  Attributes,
  Opened,
  Read,
  Closed,
  ClosedByWriter,
};

/// Is told at once of changes of one file, or of the names in one directory and their contents.
class DiskWatcher {
 public:
  /// `name` is empty for the thing itself. Must not change the disk or its watchers.
  virtual void disk_changed(DiskChange change, std::string_view name, bool is_directory) = 0;

 protected:
  ~DiskWatcher() = default;
};

/// The watchers of inodes, in order of registration.
class DiskWatchers {
 public:
  using Inode = std::uint64_t;

  [[nodiscard]] bool empty() const noexcept { return watchers_.empty(); }
  void add(Inode inode, DiskWatcher& watcher) { watchers_[inode].push_back(&watcher); }
  /// No effect when it is not, or no more, there.
  void remove(Inode inode, DiskWatcher& watcher) noexcept {
    const auto found = watchers_.find(inode);
    if (found == watchers_.end()) return;
    std::erase(found->second, &watcher);
    if (found->second.empty()) watchers_.erase(found);
  }
  void clear() noexcept { watchers_.clear(); }

  void tell(Inode inode, DiskChange change, std::string_view name, bool is_directory) const {
    const auto found = watchers_.find(inode);
    if (found == watchers_.end()) return;
    for (DiskWatcher* watcher : found->second) watcher->disk_changed(change, name, is_directory);
  }

  /// Calls `visit(inode)` for each that is watched.
  template <class Visit>
  void each_inode(Visit visit) const {
    for (const auto& [inode, watchers] : watchers_) visit(inode);
  }

 private:
  std::map<Inode, std::vector<DiskWatcher*>> watchers_;
};

}  // namespace fermata::sim
