// SPDX-License-Identifier: Apache-2.0
#pragma once

// Files and directories as foreign code sees them: a part of its Kernel, with the same rules.
//
// Waiting   Each method may suspend, unless it says that it does not.
// Errors    Those of functions that C++ knows to throw nothing, such as rename(), throw nothing.

#include <fcntl.h>
#include <linux/aio_abi.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <optional>
#include <span>
#include <string>

namespace fermata::posix {

/// A file, by its path or by a descriptor.
struct Where {
  /// The directory where a relative path begins, or AT_FDCWD; without a path, the file itself.
  int descriptor = AT_FDCWD;
  /// May be null: then there is none.
  const char* path = nullptr;
  bool has_path = true;
  /// Whether a symbolic link at the end is followed.
  bool follows = true;
};

/// At this path.
[[nodiscard]] inline Where at(const char* path) noexcept { return {.path = path}; }
/// At this path, which begins in `directory`.
[[nodiscard]] inline Where at(int directory, const char* path) noexcept {
  return {.descriptor = directory, .path = path};
}
/// At this path, and not where a link leads that is there.
[[nodiscard]] inline Where link_at(const char* path) noexcept {
  return {.path = path, .follows = false};
}
/// What is open as `descriptor`.
[[nodiscard]] inline Where open_as(int descriptor) noexcept {
  return {.descriptor = descriptor, .has_path = false};
}

/// What a sync makes durable.
enum class Sync : std::uint8_t {
  Contents,   // Also the size, which is needed to read them back.
  File,       // All of the file.
  FileSystem  // All files.
};

/// What mmap() is asked for.
struct MapRequest {
  void* address;
  std::size_t size;
  int protection;
  int flags;
  int descriptor;
  off64_t offset;
};

class Files {
 public:
  // --- paths ---

  virtual int open(const Where& where, int flags, mode_t mode) = 0;
  /// open() as opendir() calls it. Does not leave the code that called it; nor does read_directory.
  virtual int open_directory(const Where& where) = 0;
  /// A regular file without a name. Does not suspend.
  virtual int open_unnamed(int flags) = 0;
  virtual int status(const Where& where, struct stat& status) = 0;
  virtual int access(const Where& where, int mode) = 0;
  virtual int make_directory(const Where& where, mode_t mode) = 0;
  virtual int remove(const Where& where) = 0;
  virtual int remove_directory(const Where& where) = 0;
  /// `flags` are those of renameat2().
  virtual int rename(const Where& from, const Where& to, unsigned flags) = 0;
  virtual int link(const Where& from, const Where& to) = 0;
  virtual int make_link(const char* target, const Where& where) = 0;
  virtual ssize_t read_link(const Where& where, std::span<char> room) = 0;
  virtual int change_mode(const Where& where, mode_t mode) = 0;
  virtual int change_owner(const Where& where, uid_t owner, gid_t group) = 0;
  /// The times of access and modification, as utimensat() takes them.
  virtual int change_times(const Where& where, const std::array<timespec, 2>& times) = 0;
  virtual int truncate(const Where& where, off64_t size) = 0;
  virtual int space(const Where& where, struct statvfs& space) = 0;

  // --- the process: none suspends ---

  virtual int change_directory(const Where& where) = 0;
  /// The working directory, or why there is none.
  virtual int current_directory(std::string& path) = 0;
  /// umask().
  virtual mode_t exchange_mask(mode_t mask) = 0;

  // --- what is open ---

  virtual ssize_t read_at(int descriptor, std::span<const iovec> target, off64_t offset) = 0;
  virtual ssize_t write_at(int descriptor, std::span<const iovec> source, off64_t offset) = 0;
  /// Does not suspend.
  virtual off64_t seek(int descriptor, off64_t offset, int whence) = 0;
  virtual int sync(int descriptor, Sync what) = 0;
  /// sync(): all files.
  virtual void sync_all() = 0;
  virtual int allocate(int descriptor, int mode, off64_t offset, off64_t size) = 0;
  /// getdents64().
  virtual ssize_t read_directory(int descriptor, std::span<std::byte> room) = 0;
  /// flock(); of fcntl(), the locks are Kernel::fcntl().
  virtual int lock(int descriptor, int operation) = 0;

  // --- streams: none suspends ---

  /// Kernel::read() and write() of a file; -ESPIPE of anything else.
  virtual ssize_t read_at_once(int descriptor, std::span<const iovec> target) = 0;
  virtual ssize_t write_at_once(int descriptor, std::span<const iovec> source) = 0;

  // --- watches: inotify_init1(), inotify_add_watch() and inotify_rm_watch(); none suspends ---

  virtual int open_news(int flags) = 0;
  virtual int watch(int news, const char* path, std::uint32_t mask) = 0;
  virtual int unwatch(int news, int watch) = 0;

  // --- calls that are carried out later: io_setup() and its relatives ---

  /// Does not suspend; nor does `cancel`.
  virtual int open_queue(unsigned most, aio_context_t& queue) = 0;
  virtual int close_queue(aio_context_t queue) = 0;
  /// Suspends for a descriptor of anything but a file only. Returns how many it has taken.
  virtual int submit(aio_context_t queue, std::span<iocb* const> calls) = 0;
  virtual int cancel(aio_context_t queue, const iocb* call) = 0;
  /// Moves results into `room`, of which `least` are waited for, and returns how many.
  virtual int results(aio_context_t queue, long least, std::span<io_event> room,
                      std::optional<std::chrono::nanoseconds> limit) = 0;

  // --- memory ---

  /// Maps a file, and puts it into the list of Maps. Does not suspend.
  virtual int map(const MapRequest& request, void*& mapped) = 0;
  /// What files are mapped there become durable: msync().
  virtual int sync_maps(const void* address, std::size_t size) = 0;

 protected:
  Files() = default;
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;
  ~Files() = default;
};

}  // namespace fermata::posix
