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
// Links       A path goes through symbolic links; what creates, renames or removes a name takes the
//             link itself. A file may have several names, which are durable one by one.
// Times       Are kept through a crash, as permissions are.
// Memory      While a file is mapped, what programs write to that memory is seen by reads at once,
//             and is as durable as writes are, page by page.
// Missing     Devices. Nothing makes them, so nothing finds them.
// Errors      Positive errno values as Linux gives them, 0 for success.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/reactor/file_operation.hpp"
#include "fermata/sim/fs/disk_watchers.hpp"
#include "fermata/sim/fs/file_locks.hpp"
#include "fermata/sim/fs/file_memory.hpp"
#include "fermata/sim/fs/image.hpp"
#include "fermata/sim/machine/occasion.hpp"
#include "fermata/sim/record/disk_log.hpp"

namespace fermata::sim {

/// A path, and the directory where it begins when it is relative.
struct DiskPath {
  static constexpr std::uint64_t kRoot = 1;

  template <class Text>
  requires std::is_convertible_v<const Text&, std::string_view> DiskPath(
      const Text& t, std::uint64_t f = kRoot)  // NOLINT(google-explicit-constructor)
      : text(t), from(f) {}

  std::string_view text;
  std::uint64_t from;
};

class Disk {
 public:
  /// A file or directory; never reused before format().
  using Inode = std::uint64_t;
  static constexpr Inode kRoot = DiskPath::kRoot;

  /// Whether a symbolic link at the end of a path is followed.
  enum class Last : std::uint8_t { IsFollowed, IsTaken };

  /// What is known of a file besides its contents.
  struct Attributes {
    FileType type = FileType::Regular;
    std::uint64_t size = 0;
    std::uint32_t permissions = 0;
    std::uint32_t owner = 0;
    std::uint32_t group = 0;
    std::uint64_t links = 0;  // Its names; of a directory as Linux counts them.
    WallTime modified;
    WallTime accessed;
    WallTime changed;  // Whatever of it.
  };

  static constexpr std::uint64_t kCapacity = 256 << 20;

  explicit Disk(std::uint64_t capacity = kCapacity) : capacity_(capacity) { format(); }

  /// Formats the disk: it has an empty root directory and nothing else.
  void format();
  /// Tells `listener`, which may be null, of syncs and renames from now on.
  void tell_of_occasions(detail::OccasionListener* listener) noexcept { occasions_ = listener; }
  /// Sets the time of modification for changes from now on.
  void set_time(WallTime now) noexcept { now_ = now; }
  /// In bytes, until writes fail. 0 too when a crash brought back more than the disk holds.
  [[nodiscard]] std::uint64_t room() const noexcept {
    return used_ < capacity_ ? capacity_ - used_ : 0;
  }
  [[nodiscard]] std::uint64_t capacity() const noexcept { return capacity_; }
  /// Changes with each crash and each format(): what was open before is not.
  [[nodiscard]] std::uint64_t life() const noexcept { return life_; }

  // --- names ---

  /// Pins what it finds until release().
  int open(const DiskPath& path, const OpenMode& mode, Inode& opened);
  /// Makes a regular file without a name, and pins it until release().
  [[nodiscard]] Inode open_unnamed(std::uint32_t permissions);
  /// Pins once more what is open.
  void share(Inode inode) { ++at(inode).opens; }
  void release(Inode inode);
  int find(const DiskPath& path, Inode& found, Last last = Last::IsFollowed) const;
  [[nodiscard]] bool exists(const DiskPath& path) const;
  int status(const DiskPath& path, FileStatus& status) const;
  /// Without `replaces`: EEXIST when there is something of the new name.
  int rename(const DiskPath& from, const DiskPath& to, bool replaces = true);
  int remove(const DiskPath& path);
  int make_directory(const DiskPath& path, std::uint32_t permissions);
  int remove_directory(const DiskPath& path);
  int list(const DiskPath& path, std::vector<DirectoryEntry>& entries) const;
  int sync_directory(const DiskPath& path);
  /// Another name for the file `linked`, which has a name already.
  int link(Inode linked, const DiskPath& path);
  int link(const DiskPath& existing, const DiskPath& path);
  /// A symbolic link that leads to `target`.
  int make_link(std::string_view target, const DiskPath& path);

  /// A file that is the name of a Unix socket: FileType::Other.
  int make_socket(const DiskPath& path, std::uint32_t permissions, Inode& made);

  /// Tells `watcher` what changes there until unwatch(), a crash or format().
  int watch(const DiskPath& path, DiskWatcher& watcher, Inode& watched);
  /// Watches what has been found already.
  void watch(Inode inode, DiskWatcher& watcher) { watchers_.add(inode, watcher); }
  void unwatch(Inode inode, DiskWatcher& watcher) noexcept { watchers_.remove(inode, watcher); }

  /// Tells watchers of a file, and of directories that it is in, what has been done to it.
  void note(Inode inode, DiskChange done) const;
  /// Counts the changes of names and contents since format().
  [[nodiscard]] std::uint64_t changes_made() const noexcept { return changes_made_; }

  // --- files that are given, such as real ones ---

  /// Adds a file or directory that is durable at once, takes no space, does not appear in reports
  /// and has fixed times. REQUIRES: there is nothing of that name.
  Inode add_given(Inode directory, const std::string& name, FileType type);
  /// Sets what such a file contains.
  void fill_given(Inode inode, std::span<const std::byte> contents);
  [[nodiscard]] bool is_given(Inode inode) const { return at(inode).is_given; }
  /// From now on what would change the file or the names in the directory is refused with EROFS.
  void fix(Inode inode) { at(inode).is_fixed = true; }
  [[nodiscard]] bool is_fixed(Inode inode) const { return at(inode).is_fixed; }

  // --- what is open ---

  [[nodiscard]] FileStatus status(Inode inode) const;
  [[nodiscard]] Attributes attributes(Inode inode) const;
  /// Where a symbolic link leads.
  [[nodiscard]] const std::string& target(Inode link) const {
    FERMATA_ASSERT(at(link).type == FileType::SymbolicLink);
    return at(link).target;
  }
  /// The names in a directory, as seen.
  [[nodiscard]] const std::map<std::string, Inode, std::less<>>& names(Inode directory) const {
    FERMATA_ASSERT(is_directory(directory));
    return at(directory).names;
  }
  /// The directory that a directory is in.
  [[nodiscard]] Inode parent(Inode directory) const {
    FERMATA_ASSERT(is_directory(directory));
    return at(directory).parent;
  }
  /// Whether it can still be found by a name.
  [[nodiscard]] bool is_named(Inode inode) const { return at(inode).links > 0; }
  void set_permissions(Inode inode, std::uint32_t permissions);
  void set_owner(Inode inode, std::uint32_t owner, std::uint32_t group);
  void set_times(Inode inode, WallTime accessed, WallTime modified);
  /// It has been read. The time of that is kept as Linux does it: once after each change.
  void note_access(Inode inode);
  /// The path of what has a name, from the root, without a slash before it; empty for the root. Of
  /// anything else "a removed file".
  [[nodiscard]] std::string path_of(Inode inode) const;
  [[nodiscard]] const FileImage& image(Inode inode) const { return at(inode).image; }
  int read(Inode inode, std::uint64_t offset, std::span<std::byte> to, std::size_t& moved);
  /// Writes what there is room for, at least a byte. The program has asked for `wanted` bytes, of
  /// which `bytes` are the first.
  int write(Inode inode, std::uint64_t offset, std::span<const std::byte> bytes, std::size_t wanted,
            std::size_t& moved);
  int truncate(Inode inode, std::uint64_t size);
  /// Makes a file's changes durable; for a directory, like sync_directory().
  void sync(Inode inode);
  /// Makes all changes durable.
  void sync_all();
  /// Gives up the file's changes, like FileImage::give_up_changes().
  void give_up_changes(Inode inode) { at(inode).image.give_up_changes(); }

  /// Who has locked what. Nobody has after a crash or format().
  [[nodiscard]] detail::MachineLocks& locks() noexcept { return locks_; }

  // --- memory ---

  /// A system's descriptor of memory that shows the file until unmap(), once for each; negative
  /// when the system has none left. `writes`: programs may change it.
  [[nodiscard]] int map(Inode inode, bool writes);
  void unmap(Inode inode);
  /// What programs have written to memory becomes a part of the files.
  void take_in_maps();
  /// The machine goes down: what is written to memory from now on is not in any file.
  void forget_maps();

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
    std::uint32_t owner = 0;
    std::uint32_t group = 0;
    WallTime modified;
    WallTime accessed;
    WallTime changed;
    std::uint64_t key = 0;  // Of the name that it was created with.
    bool is_given = false;
    bool is_fixed = false;
    std::size_t opens = 0;
    std::size_t links = 0;  // Names, as seen.
    Inode parent = 0;       // Of a directory.
    std::string target;     // Of a symbolic link.
    FileImage image;
    std::unique_ptr<FileMemory> memory;  // While it is mapped.
    std::uint64_t change = 0;            // The number of the last one of the contents.
    DirectoryNames names;                // Of a directory, as seen.
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
    bool is_link = false;      // Another name of a file.
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

  static constexpr int kMostLinks = 40;

  // --- for people ---

  /// "the rename 'a' -> 'b'".
  [[nodiscard]] std::string text(const NameChange& change) const;
  /// ", with its rename to 'CURRENT'": what a file that is lost was called since; may be empty.
  [[nodiscard]] std::string text_of_later_names(const NameChange& lost,
                                                const std::vector<NameChange>& changes) const;
  [[nodiscard]] std::string text(const Place& place) const;

  /// REQUIRES: there is such a file or directory.
  [[nodiscard]] const Node& at(Inode inode) const {
    const auto found = nodes_.find(inode);
    FERMATA_ASSERT(found != nodes_.end());
    return found->second;
  }
  [[nodiscard]] Node& at(Inode inode) {
    touched_ = true;
    return const_cast<Node&>(std::as_const(*this).at(inode));
  }
  [[nodiscard]] bool is_directory(Inode inode) const {
    return at(inode).type == FileType::Directory;
  }
  void make_root();
  /// To where the last part of `path` is looked up.
  int walk(const DiskPath& path, Last last, Place& place) const;
  int walk(const DiskPath& path, Last last, Place& place, int& links) const;
  int descend(Place& place, int& links) const;
  int follow(Place& place, Last last, int& links) const;
  /// 0 when there is nothing.
  [[nodiscard]] Inode find_in(const Place& place) const;
  [[nodiscard]] bool is_inside(Inode directory, Inode of) const;
  [[nodiscard]] int may_replace(Inode moved, Inode replaced) const;
  Inode create(const Place& place, FileType type, std::uint32_t permissions);
  int refuse_new_name(const Place& place) const;
  void change_names(NameChange change);
  void tell_of_names(const NameChange& change) const;
  void contents_changed(Inode inode);
  static void apply(const NameChange& change, std::map<Inode, Node>& nodes,
                    DirectoryNames Node::*names);
  void resize(Inode inode, std::uint64_t size);
  void take_in(Inode inode);
  void forget_if_unused(Inode inode);
  void sync_names(Inode directory);
  void came(detail::Occasion occasion, Inode inode) const;
  /// The files below `directory`, whose path is `path`, among those `names`.
  void find_files(Inode directory, const std::string& path, DirectoryNames Node::*names,
                  std::map<std::string, Inode>& found) const;
  void see_names_of(Inode directory);
  void crash_names(const CrashDraw& draw, CrashListener* listener);

  std::uint64_t capacity_;
  std::uint64_t used_ = 0;
  std::uint64_t version_ = 0;
  std::uint64_t life_ = 0;
  WallTime now_;
  bool touched_ = false;  // A node may have been changed since format().
  Inode next_ = 1;
  std::map<Inode, Node> nodes_;
  std::vector<NameChange> name_changes_;
  std::uint64_t changes_made_ = 0;
  DiskWatchers watchers_;
  detail::MachineLocks locks_;
  detail::OccasionListener* occasions_ = nullptr;
};

}  // namespace fermata::sim
