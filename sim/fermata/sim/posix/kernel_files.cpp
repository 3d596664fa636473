// SPDX-License-Identifier: Apache-2.0

// How calls of files are carried out, and what they do with contents.

#include "fermata/sim/posix/kernel_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cstring>

#include "fermata/base/assert.hpp"
#include "fermata/posix/maps.hpp"
#include "fermata/posix/streams.hpp"
#include "fermata/sim/fs/call_text.hpp"
#include "fermata/sim/posix/disk_wait.hpp"

namespace fermata::sim::detail {

namespace {
constexpr mode_t kUsualMask = 022;

/// Calls take no time while it lives.
class AtOnce {
 public:
  explicit AtOnce(bool& takes_time) noexcept
      : takes_time_(takes_time), before_(std::exchange(takes_time, false)) {}
  AtOnce(const AtOnce&) = delete;
  AtOnce& operator=(const AtOnce&) = delete;
  ~AtOnce() { takes_time_ = before_; }

 private:
  bool& takes_time_;
  bool before_;
};

}  // namespace

SimKernelFiles::SimKernelFiles(SimKernel& kernel, Machine& machine, Disk& disk)
    : kernel_(kernel), machine_(machine), disk_(disk), faults_(machine), mask_(kUsualMask) {}

SimKernelFiles::~SimKernelFiles() { begin_life(); }

void SimKernelFiles::begin_life() {
  end_life();
  posix::Maps::all().unmap(this);
  posix::drop_streams(kernel_);
  tells_real_files_ = false;
}

void SimKernelFiles::end_life() {
  drop_queues();
  disk_.take_in_maps();
  posix::Maps::all().let_go(this);
  directory_.reset();
  disk_.locks().records.clear(this);
  mask_ = kUsualMask;
}

// --- how calls are carried out ---

int SimKernelFiles::wait(const Job& job, const DiskCall& work) {
  if (!takes_time_ || current_runtime().current() == nullptr) return 0;
  const Instant when = machine_.now() + faults_.latency(work);
  const std::uint64_t source =
      key_of(key_of(machine_.key(), "disk of foreign code"), next_number_++);
  const int waited = kernel_.suspended_if_possible(
      [&](const SourcePlace& place, Event*) {
        DiskWait event(current_runtime(), machine_, job.call, job.path, when, source);
        fermata::wait(event, {}, place);
      },
      false);
  if (machine_.over() || machine_.is_down()) return -ECANCELED;
  if (waited == -EDEADLK) return 0;
  if (waited == -EINTR) return faults_.is_withdrawn(work) ? -EINTR : 0;
  return waited;
}

std::optional<RunLog::CallId> SimKernelFiles::note(const Job& job) const {
  RunLog* const told = machine_.run_log();
  return told == nullptr ? std::nullopt : told->called(machine_.name(), call_text(job));
}

std::string SimKernelFiles::text(const Job& job) const {
  std::string text = fmt::format("{} '{}'", job.deed.noun, job.path);
  if (!job.target.empty()) text += fmt::format(" -> '{}'", job.target);
  return text + machine_.place();
}

std::string SimKernelFiles::call_text(const Job& job) const {
  if (&job.deed == &kWrite) return written_text(gather(job.bytes), job.path);
  std::string text = fmt::format("{} '{}'", job.deed.verb, job.path);
  if (!job.target.empty()) text += fmt::format(" to '{}'", job.target);
  return text;
}

std::string SimKernelFiles::answer_text(const Job& job, std::int64_t result) {
  if (result < 0) return fmt::format(" ({})", std::strerror(static_cast<int>(-result)));
  const auto moved = static_cast<std::size_t>(result);
  if (&job.deed == &kRead) {
    const std::vector<std::byte> bytes = gather(job.bytes);
    return read_text(std::span(bytes).first(moved));
  }
  if (&job.deed == &kWrite) return short_write_text(moved, size_of(job.bytes));
  return {};
}

// --- reading and writing ---

ssize_t SimKernelFiles::read(OpenFile& file, std::span<const iovec> target) {
  if (const int code = file.refuse_reading()) return code;
  return carry_out({.call = "read", .deed = kRead, .path = file.path(), .bytes = target},
                   [&](const DiskCall& work) {
                     const ssize_t moved = read_from(file, work, target, file.offset);
                     if (moved > 0) file.offset += moved;
                     return moved;
                   });
}

ssize_t SimKernelFiles::write(OpenFile& file, std::span<const iovec> source) {
  if (const int code = file.refuse_writing()) return code;
  return carry_out({.call = "write", .deed = kWrite, .path = file.path(), .bytes = source},
                   [&](const DiskCall& work) { return write_to(file, work, source, file.offset); });
}

ssize_t SimKernelFiles::read_at_once(int descriptor, std::span<const iovec> target) {
  return with_file("read", descriptor, -ESPIPE, [&](OpenFile& file) {
    const AtOnce now(takes_time_);
    return read(file, target);
  });
}

ssize_t SimKernelFiles::write_at_once(int descriptor, std::span<const iovec> source) {
  return with_file("write", descriptor, -ESPIPE, [&](OpenFile& file) {
    const AtOnce now(takes_time_);
    return write(file, source);
  });
}

ssize_t SimKernelFiles::read_at(int descriptor, std::span<const iovec> target, off64_t offset) {
  kernel_.leave_if_endless();
  if (offset < 0) return -EINVAL;
  return with_file("pread", descriptor, -ESPIPE, [&](OpenFile& file) -> ssize_t {
    if (const int code = file.refuse_reading()) return code;
    return carry_out({.call = "pread", .deed = kRead, .path = file.path(), .bytes = target},
                     [&](const DiskCall& work) { return read_from(file, work, target, offset); });
  });
}

ssize_t SimKernelFiles::write_at(int descriptor, std::span<const iovec> source, off64_t offset) {
  kernel_.leave_if_endless();
  if (offset < 0) return -EINVAL;
  return with_file("pwrite", descriptor, -ESPIPE, [&](OpenFile& file) -> ssize_t {
    if (const int code = file.refuse_writing()) return code;
    return carry_out({.call = "pwrite", .deed = kWrite, .path = file.path(), .bytes = source},
                     [&](const DiskCall& work) {
                       off64_t begin = offset;
                       return write_to(file, work, source, begin);
                     });
  });
}

ssize_t SimKernelFiles::read_from(OpenFile& file, const DiskCall& work,
                                  std::span<const iovec> target, off64_t offset) {
  if (faults_.has_error(work)) return -EIO;
  const auto begin = static_cast<std::uint64_t>(offset);
  const std::uint64_t end = disk_.image(file.inode()).seen().size();
  const std::uint64_t there = end - std::min(end, begin);
  const std::size_t wanted = std::min<std::size_t>(size_of(target), there);
  FERMATA_ASSERT(offset >= 0);
  std::vector<std::byte> bytes(faults_.shortened(work, wanted, Fault::ShortRead));
  std::size_t moved = 0;
  if (const int code = disk_.read(file.inode(), begin, bytes, moved)) return -code;
  FERMATA_ASSERT(moved == bytes.size());
  if (!target.empty() && (file.status & O_NOATIME) == 0) disk_.note_access(file.inode());
  if (moved > 0) disk_.note(file.inode(), DiskChange::Read);
  scatter(bytes, target);
  return static_cast<ssize_t>(moved);
}

ssize_t SimKernelFiles::write_to(OpenFile& file, const DiskCall& work,
                                 std::span<const iovec> source, off64_t& offset, bool lasts) {
  if (faults_.has_error(work)) return -EIO;
  const std::vector<std::byte> bytes = gather(source);
  if (bytes.empty()) return 0;
  if (faults_.finds_no_space(work)) return -ENOSPC;
  const std::size_t size = faults_.shortened(work, bytes.size(), Fault::ShortWrite);
  const bool appends = (file.status & O_APPEND) != 0;
  const std::uint64_t end = disk_.image(file.inode()).seen().size();
  const std::uint64_t begin = appends ? end : static_cast<std::uint64_t>(offset);
  FERMATA_ASSERT(size <= bytes.size());
  std::size_t moved = 0;
  const std::span taken = std::span(bytes).first(size);
  if (const int code = disk_.write(file.inode(), begin, taken, bytes.size(), moved)) return -code;
  if (lasts || (file.status & O_DSYNC) != 0) {
    if (const int code = sync_file(work, file.inode(), posix::Sync::File)) return code;
  }
  offset = static_cast<off64_t>(begin + moved);
  return static_cast<ssize_t>(moved);
}

off64_t SimKernelFiles::seek(int descriptor, off64_t offset, int whence) {
  return with_file("lseek", descriptor, -ESPIPE, [&](OpenFile& file) -> off64_t {
    if ((file.status & O_PATH) != 0) return -EBADF;
    const auto size = static_cast<off64_t>(disk_.attributes(file.inode()).size);
    off64_t base = 0;
    switch (whence) {
      case SEEK_SET:
        break;
      case SEEK_CUR:
        base = file.offset;
        break;
      case SEEK_END:
        base = size;
        break;
      case SEEK_DATA:
      case SEEK_HOLE:
        if (offset < 0 || offset >= size) return -ENXIO;
        if (whence == SEEK_HOLE) offset = size;
        break;
      default:
        return -EINVAL;
    }
    off64_t target = 0;
    if (__builtin_add_overflow(base, offset, &target)) return -EOVERFLOW;
    if (target < 0) return -EINVAL;
    FERMATA_ASSERT(file.offset >= 0);
    if (file.is_directory() && target == 0) file.forget_entries();
    return file.offset = target;
  });
}

// --- what lasts ---

int SimKernelFiles::sync(int descriptor, posix::Sync what) {
  if (what != posix::Sync::FileSystem) kernel_.leave_if_endless();
  const char* const call = what == posix::Sync::Contents ? "fdatasync"
                           : what == posix::Sync::File   ? "fsync"
                                                         : "syncfs";
  return with_file(call, descriptor, -EINVAL, [&](OpenFile& file) -> int {
    if ((file.status & O_PATH) != 0) return -EBADF;
    const Deed& deed = file.is_directory() ? kSyncDirectory : kSync;
    return carry_out({call, deed, file.path()},
                     [&](const DiskCall& work) { return sync_file(work, file.inode(), what); });
  });
}

int SimKernelFiles::sync_file(const DiskCall& work, Disk::Inode inode, posix::Sync what) {
  if (disk_.attributes(inode).type == FileType::Directory) {
    if (faults_.has_error(work)) return -EIO;
  } else {
    const DiskFaults::SyncFailure failure = faults_.sync_failure(work);
    if (failure == DiskFaults::SyncFailure::GivesUp) disk_.give_up_changes(inode);
    if (failure != DiskFaults::SyncFailure::None) return -EIO;
  }
  if (what == posix::Sync::FileSystem) {
    disk_.sync_all();
  } else {
    disk_.sync(inode);
  }
  return 0;
}

void SimKernelFiles::sync_all() {
  const std::string root = "/";
  if (kernel_.enter("sync") != 0) return;
  static_cast<void>(carry_out({"sync", kSync, root}, [&](const DiskCall&) {
    disk_.sync_all();
    return 0;
  }));
}

int SimKernelFiles::truncate(const posix::Where& where, off64_t size) {
  if (size < 0) return -EINVAL;
  return at_place("truncate", kTruncate, where, [&](const DiskCall&, const Place& place) {
    Disk::Inode inode = 0;
    if (const int code = find(place, inode)) return code;
    if (place.file != nullptr && (place.file->status & O_PATH) != 0) return -EBADF;
    if (place.file != nullptr && place.file->refuse_writing() != 0) return -EINVAL;
    const FileType type = disk_.attributes(inode).type;
    if (type == FileType::Directory) return -EISDIR;
    if (type != FileType::Regular) return -EINVAL;
    return -disk_.truncate(inode, static_cast<std::uint64_t>(size));
  });
}

int SimKernelFiles::allocate(int descriptor, int mode, off64_t offset, off64_t size) {
  constexpr int kKnown = FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE;
  kernel_.leave_if_endless();
  return with_file("fallocate", descriptor, -ESPIPE, [&](OpenFile& file) -> int {
    off64_t end = 0;
    if ((file.status & O_PATH) != 0) return -EBADF;
    if (offset < 0 || size <= 0) return -EINVAL;
    if ((mode & ~kKnown) != 0 || mode == FALLOC_FL_PUNCH_HOLE) return -EOPNOTSUPP;
    if (__builtin_add_overflow(offset, size, &end)) return -EFBIG;
    if (const int code = file.refuse_writing()) return code;
    return carry_out({"fallocate", kAllocate, file.path()}, [&](const DiskCall& work) -> int {
      if (faults_.finds_no_space(work)) return -ENOSPC;
      const auto before = static_cast<off64_t>(disk_.attributes(file.inode()).size);
      if ((mode & FALLOC_FL_PUNCH_HOLE) != 0) {
        const std::vector<std::byte> zeros(
            static_cast<std::size_t>(std::max<off64_t>(std::min(end, before) - offset, 0)));
        std::size_t moved = 0;
        return -disk_.write(file.inode(), static_cast<std::uint64_t>(offset), zeros, zeros.size(),
                            moved);
      }
      if (end <= before) return 0;
      if ((mode & FALLOC_FL_KEEP_SIZE) != 0) {
        return static_cast<std::uint64_t>(end - before) > disk_.room() ? -ENOSPC : 0;
      }
      return -disk_.truncate(file.inode(), static_cast<std::uint64_t>(end));
    });
  });
}

}  // namespace fermata::sim::detail
