// SPDX-License-Identifier: Apache-2.0
#pragma once

// The file system of one machine: directories, and files with a durable and a seen image. It does
// nothing by itself and knows no time.
//
// Durability  Contents: by sync() of the file. Names (created, renamed, removed): by
//             sync_directory() of a directory that they are in; a name that is not durable hides
//             contents that are.
// Rights      The program may do everything; permissions are kept and shown, not enforced. The mask
//             is 022.
// Space       What is seen counts, gaps included.
// Missing     Links, devices, file times other than of contents. Nothing makes them, so nothing
//             finds them.
// Errors      Positive errno values as Linux gives them, 0 for success.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/reactor/file_operation.hpp"
#include "fermata/sim/fs/disk_watchers.hpp"
#include "fermata/sim/fs/image.hpp"
#include "fermata/sim/record/disk_log.hpp"

namespace fermata::sim {

class Disk {
 public:
  /// A file or directory; never reused before format().
  using Inode = std::uint64_t;
  static constexpr std::uint64_t kCapacity = 256 << 20;

  explicit Disk(std::uint64_t capacity = kCapacity) : capacity_(capacity) { format(); }

  /// Formats the disk: it has an empty root directory and nothing else.
  void format();
  /// Sets the time of modification for changes from now on.
  void set_time(WallTime now) noexcept { now_ = now; }
  /// In bytes, until writes fail. 0 too when a crash brought back more than the disk holds.
  [[nodiscard]] std::uint64_t room() const noexcept {
    return used_ < capacity_ ? capacity_ - used_ : 0;
  }

  // --- names ---

  /// Pins what it finds until release().
  int open(std::string_view path, const OpenMode& mode, Inode& opened);
  void release(Inode inode);
  [[nodiscard]] bool exists(std::string_view path) const;
  int status(std::string_view path, FileStatus& status) const;
  int rename(std::string_view from, std::string_view to);
  int remove(std::string_view path);
  int make_directory(std::string_view path, std::uint32_t permissions);
  int remove_directory(std::string_view path);
  int list(std::string_view path, std::vector<DirectoryEntry>& entries) const;
  int sync_directory(std::string_view path);

  /// Tells `watcher` what changes there until unwatch(), a crash or format().
  int watch(std::string_view path, DiskWatcher& watcher, Inode& watched);
  void unwatch(Inode inode, DiskWatcher& watcher) noexcept { watchers_.remove(inode, watcher); }

  // --- what is open ---

  [[nodiscard]] FileStatus status(Inode inode) const;
  [[nodiscard]] const FileImage& image(Inode inode) const { return at(inode).image; }
  int read(Inode inode, std::uint64_t offset, std::span<std::byte> to, std::size_t& moved) const;
  /// Writes what there is room for, at least a byte.
  int write(Inode inode, std::uint64_t offset, std::span<const std::byte> bytes,
            std::size_t& moved);
  int truncate(Inode inode, std::uint64_t size);
  /// Makes a file's changes durable; for a directory, like sync_directory().
  void sync(Inode inode);
  /// Gives up the file's changes, like FileImage::give_up_changes().
  void give_up_changes(Inode inode) { at(inode).image.give_up_changes(); }

  // --- for reports ---

  /// Grows with each change of what files() gives.
  [[nodiscard]] std::uint64_t version() const noexcept { return version_; }
  /// Every file as it is seen and as it is durable, by its path.
  [[nodiscard]] std::vector<FileState> files() const;

  /// The machine goes down and comes up again: nothing is open, and of what was not synced each
  /// change is kept, lost or torn as `draw` says; 0 keeps it. A rename is kept or lost whole.
  /// `listener` may be null; else it is told.
  void crash(const CrashDraw& draw, CrashListener* listener = nullptr);

  /// What a crash now comes between, for people: "after the write to 'settings' and before its
  /// sync", the last change that is not synced. Empty when nothing has changed since the last
  /// crash.
  [[nodiscard]] std::string crash_point_text() const;

 private:
  using DirectoryNames = std::map<std::string, Inode, std::less<>>;
  struct Node {
    FileType type = FileType::Regular;
    std::uint32_t permissions = 0;
    WallTime modified;
    std::uint64_t key = 0;  // Of the name that it was created with.
    std::size_t opens = 0;
    bool named = false;
    Inode parent = 0;  // Of a directory.
    FileImage image;
    std::uint64_t change = 0;  // The number of the last one of the contents.
    DirectoryNames names;      // Of a directory, as seen.
    DirectoryNames durable_names;
  };
  struct Place {
    Inode directory = kRoot;
    std::string name;  // Empty: the directory itself.
    bool must_be_directory = false;

    friend auto operator<=>(const Place& a, const Place& b) noexcept {
      return std::tie(a.directory, a.name) <=> std::tie(b.directory, b.name);
    }
  };
  struct NameChange {
    Inode inode = 0;
    std::optional<Place> removed;
    std::optional<Place> added;
    bool moves_directory = false;
    std::uint64_t number = 0;  // Counts the changes of names and contents, from 1.

    [[nodiscard]] bool touches(Inode directory) const noexcept;
  };
  /// Changes, and whether another has to share their fate: it is about the same thing or name, or
  /// moves directories as they do, which in part could make a circle.
  class Ties {
   public:
    void add(const NameChange& change);
    [[nodiscard]] bool bind(const NameChange& change) const;

   private:
    std::set<Inode> inodes_;
    std::set<Place> places_;
    bool move_directories_ = false;
  };

  static constexpr Inode kRoot = 1;

  // --- for people ---

  /// "the rename 'a' -> 'b'".
  [[nodiscard]] std::string text(const NameChange& change) const;
  [[nodiscard]] std::string text(const Place& place) const;
  /// The path of what has a name; of anything else "a removed file".
  [[nodiscard]] std::string path_of(Inode inode) const;

  /// REQUIRES: there is such a file or directory.
  [[nodiscard]] const Node& at(Inode inode) const {
    const auto found = nodes_.find(inode);
    FERMATA_ASSERT(found != nodes_.end());
    return found->second;
  }
  [[nodiscard]] Node& at(Inode inode) { return const_cast<Node&>(std::as_const(*this).at(inode)); }
  [[nodiscard]] bool is_directory(Inode inode) const {
    return at(inode).type == FileType::Directory;
  }
  int walk(std::string_view path, Place& place) const;
  int descend(Place& place) const;
  int find(std::string_view path, Inode& found) const;
  /// 0 when there is nothing.
  [[nodiscard]] Inode find_in(const Place& place) const;
  [[nodiscard]] bool is_inside(Inode directory, Inode of) const;
  [[nodiscard]] int may_replace(Inode moved, Inode replaced) const;
  Inode create(const Place& place, FileType type, std::uint32_t permissions);
  void change_names(NameChange change);
  void tell_of_names(const NameChange& change) const;
  void tell_of_contents(Inode inode) const;
  void contents_changed(Inode inode);
  static void apply(const NameChange& change, std::map<Inode, Node>& nodes,
                    DirectoryNames Node::*names);
  void resize(Inode inode, std::uint64_t size);
  void forget_if_unused(Inode inode);
  void sync_names(Inode directory);
  /// The files below `directory`, whose path is `path`, among those `names`.
  void find_files(Inode directory, const std::string& path, DirectoryNames Node::*names,
                  std::map<std::string, Inode>& found) const;
  void see_names_of(Inode directory);
  void crash_names(const CrashDraw& draw, CrashListener* listener);

  std::uint64_t capacity_;
  std::uint64_t used_ = 0;
  std::uint64_t version_ = 0;
  WallTime now_;
  Inode next_ = 1;
  std::map<Inode, Node> nodes_;
  std::vector<NameChange> name_changes_;
  std::uint64_t changes_made_ = 0;
  DiskWatchers watchers_;
};

}  // namespace fermata::sim
