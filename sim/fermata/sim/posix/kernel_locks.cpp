// SPDX-License-Identifier: Apache-2.0

// Locks of files. Those of F_SETLK are the process's, and go when it closes any descriptor of the
// file; those of F_OFD_SETLK and flock() are the open file description's.

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "fermata/base/assert.hpp"
#include "fermata/sim/posix/kernel_files.hpp"
#include "fermata/sim/posix/lock_wait.hpp"

namespace fermata::sim::detail {

namespace {

/// The range of `asked`, or a negative errno.
int range_of(const struct flock& asked, off64_t base, FileLocks::Lock& lock) {
  off64_t begin = 0;
  if (__builtin_add_overflow(base, asked.l_start, &begin)) return -EOVERFLOW;
  off64_t end = FileLocks::kEnd;
  if (asked.l_len != 0 && __builtin_add_overflow(begin, asked.l_len, &end)) return -EOVERFLOW;
  if (asked.l_len < 0) std::swap(begin, end);
  if (begin < 0) return -EINVAL;
  lock.begin = begin;
  lock.end = end;
  return 0;
}

}  // namespace

void SimKernelFiles::closing(const OpenFile& file) {
  disk_.locks().records.clear(file.inode(), {.owner = this});
}

int SimKernelFiles::take_lock(const char* call, FileLocks& locks, const OpenFile& file,
                              const FileLocks::Lock& wanted, bool waits) {
  FERMATA_ASSERT(wanted.owner != nullptr);
  while (locks.obstacle(file.inode(), wanted) != nullptr) {
    if (!waits) return -EAGAIN;
    const int waited = kernel_.suspended(call, [&](const SourcePlace& place, Event* token) {
      LockWait event(current_runtime(), machine_, call, file.path(), locks, file.inode(), wanted);
      fermata::wait(event, {.timeout = {}, .token = token}, place);
    });
    if (waited != 0) return waited;
  }
  locks.set(file.inode(), wanted);
  return 0;
}

int SimKernelFiles::lock(int descriptor, int operation) {
  const int kind = operation & ~LOCK_NB;
  if (kind != LOCK_SH && kind != LOCK_EX && kind != LOCK_UN) return -EINVAL;
  return with_file("flock", descriptor, -EBADF, [&](OpenFile& file) -> int {
    if ((file.status & O_PATH) != 0) return -EBADF;
    const auto kept = file.shared_from_this();
    FileLocks& locks = disk_.locks().whole;
    const FileLocks::Lock wanted{
        .owner = &file, .exclusive = kind == LOCK_EX, .holder = backend::WaitPerson::present()};
    if (kind == LOCK_UN) {
      locks.clear(file.inode(), wanted);
      return 0;
    }
    // A lock of another kind is given up first.
    if (locks.obstacle(file.inode(), wanted) != nullptr) locks.clear(file.inode(), wanted);
    return take_lock("flock", locks, file, wanted, (operation & LOCK_NB) == 0);
  });
}

int SimKernelFiles::control_lock(OpenFile& file, int command, struct flock& asked) {
  const bool is_of_description =
      command == F_OFD_GETLK || command == F_OFD_SETLK || command == F_OFD_SETLKW;
  const bool only_asks = command == F_GETLK || command == F_OFD_GETLK;
  const bool waits = command == F_SETLKW || command == F_OFD_SETLKW;
  if ((file.status & O_PATH) != 0) return -EBADF;
  if (is_of_description && asked.l_pid != 0) return -EINVAL;
  const bool asks_for_own = command == F_OFD_GETLK && asked.l_type == F_UNLCK;
  const bool is_kind = asked.l_type == F_RDLCK || asked.l_type == F_WRLCK || asks_for_own;
  if (only_asks && !is_kind) return -EINVAL;
  off64_t base = 0;
  if (asked.l_whence == SEEK_CUR) base = file.offset;
  if (asked.l_whence == SEEK_END) {
    struct stat status = {};
    fill(file.inode(), status);
    base = status.st_size;
  }
  if (asked.l_whence < SEEK_SET || asked.l_whence > SEEK_END) return -EINVAL;
  FileLocks& locks = disk_.locks().records;
  FileLocks::Lock wanted{.owner = this,
                         .exclusive = asked.l_type == F_WRLCK,
                         .holder = backend::WaitPerson::present()};
  if (is_of_description) {
    wanted.owner = &file;
  } else {
    wanted.process = kernel_.foreign_signals().process_id();
  }
  if (const int code = range_of(asked, base, wanted)) return code;
  if (only_asks) return tell_lock(file, wanted, asked);
  const int access = file.status & O_ACCMODE;
  switch (asked.l_type) {
    case F_UNLCK:
      locks.clear(file.inode(), wanted);
      return 0;
    case F_RDLCK:
      if (access == O_WRONLY) return -EBADF;
      break;
    case F_WRLCK:
      if (access == O_RDONLY) return -EBADF;
      break;
    default:
      return -EINVAL;
  }
  return take_lock("fcntl", locks, file, wanted, waits);
}

int SimKernelFiles::tell_lock(const OpenFile& file, const FileLocks::Lock& wanted,
                              struct flock& asked) const {
  const FileLocks& locks = disk_.locks().records;
  const FileLocks::Lock* const found = asked.l_type == F_UNLCK
                                           ? locks.own(file.inode(), wanted)
                                           : locks.obstacle(file.inode(), wanted);
  if (found == nullptr) {
    asked.l_type = F_UNLCK;
    return 0;
  }
  asked.l_type = found->exclusive ? F_WRLCK : F_RDLCK;
  asked.l_whence = SEEK_SET;
  asked.l_start = found->begin;
  asked.l_len = found->end == FileLocks::kEnd ? 0 : found->end - found->begin;
  asked.l_pid = found->process != 0 ? found->process : -1;
  return 0;
}

}  // namespace fermata::sim::detail
