// SPDX-License-Identifier: Apache-2.0
#pragma once

// Files of a simulated process, on the disk of its machine.
//
// Time      A call that the disk has to carry out takes effect, whole, at the time when it is drawn
//           to end. In a callback, where nothing can be suspended, it takes none.
//           A stream of stdio takes none, either: nobody may come between its parts.
// Faults    Those of the disk, as of Fermata's own files: they are drawn at the same places.
// Rights    The program may do everything, as root may.
// The end   A call that is interrupted has had no effect.

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "fermata/posix/files.hpp"
#include "fermata/sim/fs/disk.hpp"
#include "fermata/sim/fs/disk_faults.hpp"
#include "fermata/sim/posix/kernel_calls.hpp"
#include "fermata/sim/posix/open_file.hpp"
#include "fermata/sim/posix/queued_call.hpp"
#include "fermata/sim/record/run_log.hpp"

namespace fermata::sim::detail {

class SimKernelFiles final : public posix::Files, private QueuedCall::Owner {
 public:
  SimKernelFiles(SimKernel& kernel, Machine& machine, Disk& disk);

  ~SimKernelFiles();

  /// A process begins: in the root directory, with the usual mask and no maps.
  void begin_life();
  /// A process has ended: what it has mapped can still be read.
  void end_life();

  /// A descriptor of the file is closed.
  void closing(const OpenFile& file);
  /// fcntl() with one of the commands for locks.
  int control_lock(OpenFile& file, int command, struct flock& asked);
  /// What Kernel::read() and write() are of a file.
  ssize_t read(OpenFile& file, std::span<const iovec> target);
  ssize_t write(OpenFile& file, std::span<const iovec> source);
  int status(Description& of, struct stat& status);

  /// Brings to the disk the names of what it is told to show of the real files.
  void show_all();

  int open(const posix::Where& where, int flags, mode_t mode) override;
  int open_directory(const posix::Where& where) override;
  int open_unnamed(int flags) override;
  int status(const posix::Where& where, struct stat& status) override;
  int access(const posix::Where& where, int mode) override;
  int make_directory(const posix::Where& where, mode_t mode) override;
  int remove(const posix::Where& where) override;
  int remove_directory(const posix::Where& where) override;
  int rename(const posix::Where& from, const posix::Where& to, unsigned flags) override;
  int link(const posix::Where& from, const posix::Where& to) override;
  int make_link(const char* target, const posix::Where& where) override;
  ssize_t read_link(const posix::Where& where, std::span<char> room) override;
  int change_mode(const posix::Where& where, mode_t mode) override;
  int change_owner(const posix::Where& where, uid_t owner, gid_t group) override;
  int change_times(const posix::Where& where, const std::array<timespec, 2>& times) override;
  int truncate(const posix::Where& where, off64_t size) override;
  int space(const posix::Where& where, struct statvfs& space) override;

  /// Where relative paths begin.
  [[nodiscard]] Disk::Inode working_directory() const noexcept {
    return directory_ == nullptr ? Disk::kRoot : directory_->inode();
  }
  [[nodiscard]] mode_t mask() const noexcept { return mask_; }

  int change_directory(const posix::Where& where) override;
  int current_directory(std::string& path) override;
  mode_t exchange_mask(mode_t mask) override;

  ssize_t read_at(int descriptor, std::span<const iovec> target, off64_t offset) override;
  ssize_t write_at(int descriptor, std::span<const iovec> source, off64_t offset) override;
  off64_t seek(int descriptor, off64_t offset, int whence) override;
  int sync(int descriptor, posix::Sync what) override;
  void sync_all() override;
  int allocate(int descriptor, int mode, off64_t offset, off64_t size) override;
  ssize_t read_directory(int descriptor, std::span<std::byte> room) override;
  int lock(int descriptor, int operation) override;

  ssize_t read_at_once(int descriptor, std::span<const iovec> target) override;
  ssize_t write_at_once(int descriptor, std::span<const iovec> source) override;

  int open_news(int flags) override;
  int watch(int news, const char* path, std::uint32_t mask) override;
  int unwatch(int news, int watch) override;

  int open_queue(unsigned most, aio_context_t& queue) override;
  int close_queue(aio_context_t queue) override;
  int submit(aio_context_t queue, std::span<iocb* const> calls) override;
  int cancel(aio_context_t queue, const iocb* call) override;
  int results(aio_context_t queue, long least, std::span<io_event> room,
              posix::Limit limit) override;

  int map(const posix::MapRequest& request, void*& mapped) override;
  int sync_maps(const void* address, std::size_t size) override;

 private:
  /// A kind of call.
  struct Deed {
    const char* name;    // In keys of draws.
    const char* noun;    // "the sync of", for people.
    const char* verb;    // "syncs", likewise.
    bool changes_names;  // Or attributes: what is real refuses it.
  };
  static constexpr Deed kOpen{"open", "the open of", "opens"};
  static constexpr Deed kRead{"read", "the read of", "reads"};
  static constexpr Deed kWrite{"write", "the write to", "writes to"};
  static constexpr Deed kSync{"sync", "the sync of", "syncs"};
  static constexpr Deed kSyncDirectory{"sync directory", "the sync of directory",
                                       "syncs directory"};
  static constexpr Deed kStatus{"stat", "the look at the status of", "looks up the status of"};
  static constexpr Deed kTruncate{"truncate", "the truncation of", "truncates", true};
  static constexpr Deed kAllocate{"allocate", "the allocation of", "allocates space for"};
  static constexpr Deed kRename{"rename", "the rename", "renames", true};
  static constexpr Deed kRemove{"remove", "the removal of", "removes", true};
  static constexpr Deed kMakeDirectory{"make directory", "the making of directory",
                                       "makes directory", true};
  static constexpr Deed kRemoveDirectory{"remove directory", "the removal of directory",
                                         "removes directory", true};
  static constexpr Deed kList{"list directory", "the listing of directory", "lists directory"};
  static constexpr Deed kLink{"link", "the link to", "links", true};
  static constexpr Deed kMakeLink{"make link", "the making of link", "makes link", true};
  static constexpr Deed kReadLink{"read link", "the read of link", "reads link"};
  static constexpr Deed kChange{"change", "the change of", "changes the attributes of", true};

  static constexpr mode_t kPermissions = 07777;

  /// A path of a call, looked up from where it begins.
  struct Place {
    Disk::Inode from = 0;
    std::string path;   // As the program gives it.
    std::string shown;  // For people, and in keys of draws.
    Disk::Last last = Disk::Last::IsFollowed;
    std::shared_ptr<OpenFile> file;  // Without a path.
    bool is_real = false;            // It cannot be changed.

    [[nodiscard]] DiskPath where() const { return {path, from}; }
  };

  /// One call.
  struct Job {
    const char* call;  // The name of the function.
    const Deed& deed;
    const std::string& path;            // For people, and in keys of draws.
    std::string_view target = {};       // Where a rename goes.
    std::span<const iovec> bytes = {};  // Of a read or write.
  };

  /// Calls `act(DiskCall)` when the disk carries out the call, and returns its result; an error
  /// when it is not carried out.
  template <class Act>
  auto carry_out(const Job& job, const Act& act);
  /// carry_out() with the place that `where` names: `act(DiskCall, Place)`.
  template <class Act>
  int at_place(const char* call, const Deed& deed, const posix::Where& where, const Act& act);
  /// carry_out() with the file that `where` names: `act(Inode)`.
  template <class Act>
  int with_inode(const char* call, const Deed& deed, const posix::Where& where, const Act& act);
  /// Calls `operation` with the open file; `otherwise` when it is open and no file.
  template <class Operation>
  auto with_file(const char* call, int descriptor, int otherwise, const Operation& operation);

  /// Calls `act(DiskCall)` now: the disk carries out the call.
  template <class Act>
  auto perform(const Job& job, const DiskCall& work, const std::optional<RunLog::CallId>& noted,
               const Act& act);
  [[nodiscard]] std::optional<RunLog::CallId> note(const Job& job) const;
  /// Waits until the disk carries it out: 0, or a negative errno.
  [[nodiscard]] int wait(const Job& job, const DiskCall& work);
  [[nodiscard]] std::string text(const Job& job) const;
  [[nodiscard]] std::string call_text(const Job& job) const;
  [[nodiscard]] static std::string answer_text(const Job& job, std::int64_t result);
  /// A negative errno, or 0; so do those that follow.
  [[nodiscard]] int locate(const posix::Where& where, Place& place);
  [[nodiscard]] int find(const Place& place, Disk::Inode& found) const;
  [[nodiscard]] int begin_at(const posix::Where& where, Place& place);
  /// locate() of a path that gets or loses its name: -EROFS where files are real.
  [[nodiscard]] int locate_to_change(const posix::Where& where, Place& place);
  /// Whether it is in what is shown of the real files, by its path alone.
  [[nodiscard]] bool is_shown(const std::filesystem::path& path) const;
  [[nodiscard]] std::filesystem::path path_of(const Place& place) const;
  /// Where the path leads. Brings to the disk what is shown there.
  [[nodiscard]] std::filesystem::path follow(const std::filesystem::path& path);
  /// Whether real files are shown where it leads; brings what there is to the disk.
  [[nodiscard]] bool is_real(const Place& place);
  void show_real(const std::string& path);
  void show_names(Disk::Inode directory, const std::string& path);
  [[nodiscard]] int open_without_leaving(const posix::Where& where, int flags, mode_t mode);
  [[nodiscard]] int open_at(const DiskCall& work, const Place& place, int flags, mode_t mode,
                            Disk::Inode& opened);
  [[nodiscard]] int look_for_directory(const Place& place) const;
  [[nodiscard]] int refuse_slash(const Place& place, const OpenMode& mode);
  [[nodiscard]] int create(const DiskCall& work, const Place& place, const OpenMode& mode,
                           mode_t permissions, Disk::Inode& opened);
  [[nodiscard]] int open_device(const char* path, int flags);
  [[nodiscard]] ssize_t read_from(OpenFile& file, const DiskCall& work,
                                  std::span<const iovec> target, off64_t offset);
  /// Moves `offset` behind what it has written, which is durable if it `lasts`.
  [[nodiscard]] ssize_t write_to(OpenFile& file, const DiskCall& work,
                                 std::span<const iovec> source, off64_t& offset,
                                 bool lasts = false);
  [[nodiscard]] int sync_file(const DiskCall& work, Disk::Inode inode, posix::Sync what);
  [[nodiscard]] int take_lock(const char* call, FileLocks& locks, const OpenFile& file,
                              const FileLocks::Lock& wanted, bool waits);
  [[nodiscard]] int tell_lock(const OpenFile& file, const FileLocks::Lock& wanted,
                              struct flock& asked) const;
  /// Null when there is none of that number.
  [[nodiscard]] std::shared_ptr<FileQueue> find_queue(aio_context_t number) const noexcept;
  /// 0, or why the call is not taken; so do those that follow.
  [[nodiscard]] int submit_one(const std::shared_ptr<FileQueue>& queue, iocb& asked);
  [[nodiscard]] int submit_transfer(QueueEntry entry, const iocb& what,
                                    std::shared_ptr<Description> found);
  [[nodiscard]] int submit_sync(QueueEntry entry, const iocb& what,
                                std::shared_ptr<Description> found);
  [[nodiscard]] int submit_poll(QueueEntry entry, const iocb& what,
                                std::shared_ptr<Description> found);
  [[nodiscard]] QueuedCall& add_call(QueueEntry entry, const iocb& what);
  void enqueue(QueuedCall& call);
  void carry_out(QueuedCall& call) override;
  [[nodiscard]] std::int64_t perform(QueuedCall& call);
  [[nodiscard]] std::int64_t act(const QueuedCall& call, const DiskCall& work);
  [[nodiscard]] static Job job_of(const QueuedCall& call) noexcept;
  /// What is on its way is carried out, and nobody is told.
  void drop_queues();
  [[nodiscard]] std::shared_ptr<OpenFile> make_file(Disk::Inode inode, std::string path, int flags);
  void fill(Disk::Inode inode, struct stat& status) const;

  SimKernel& kernel_;
  Machine& machine_;
  Disk& disk_;
  DiskFaults faults_;
  std::shared_ptr<OpenFile> directory_;  // The working one; null: the root.
  mode_t mask_;
  std::vector<std::shared_ptr<FileQueue>> queues_;
  std::list<QueuedCall> queued_calls_;
  std::list<QueuedPoll> queued_polls_;
  bool takes_time_ = true;
  bool tells_real_files_ = false;  // It has been told that there are some.
  std::uint64_t next_number_ = 0;
};

template <class Act>
auto SimKernelFiles::carry_out(const Job& job, const Act& act) {
  using Result = std::invoke_result_t<const Act&, const DiskCall&>;
  const auto words = [&] { return text(job); };
  const DiskCall work{DiskCall::key_of(machine_, job.deed.name, job.path), words};
  const std::optional<RunLog::CallId> noted = note(job);
  if (const int code = wait(job, work)) return static_cast<Result>(code);
  return perform(job, work, noted, act);
}

template <class Act>
auto SimKernelFiles::perform(const Job& job, const DiskCall& work,
                             const std::optional<RunLog::CallId>& noted, const Act& act) {
  disk_.set_time(machine_.clock().wall(machine_.now()));
  const auto result = act(work);
  RunLog* const told = noted ? machine_.run_log() : nullptr;
  if (told != nullptr) told->answered(*noted, answer_text(job, result));
  return result;
}

template <class Act>
int SimKernelFiles::at_place(const char* call, const Deed& deed, const posix::Where& where,
                             const Act& act) {
  if (const int code = kernel_.enter(call)) return code;
  Place place;
  const int code = deed.changes_names ? locate_to_change(where, place) : locate(where, place);
  if (code != 0) return code;
  return carry_out({call, deed, place.shown},
                   [&](const DiskCall& work) { return act(work, std::as_const(place)); });
}

template <class Act>
int SimKernelFiles::with_inode(const char* call, const Deed& deed, const posix::Where& where,
                               const Act& act) {
  return at_place(call, deed, where, [&](const DiskCall&, const Place& place) {
    Disk::Inode inode = 0;
    const int code = find(place, inode);
    if (code == 0 && deed.changes_names && disk_.is_fixed(inode)) return -EROFS;
    return code != 0 ? code : act(inode);
  });
}

template <class Operation>
auto SimKernelFiles::with_file(const char* call, int descriptor, int otherwise,
                               const Operation& operation) {
  using Result = decltype(operation(std::declval<OpenFile&>()));
  return kernel_.with(call, descriptor, [&](const std::shared_ptr<Description>& found) -> Result {
    OpenFile* const file = found->as_file();
    return file == nullptr ? static_cast<Result>(otherwise) : operation(*file);
  });
}

}  // namespace fermata::sim::detail
