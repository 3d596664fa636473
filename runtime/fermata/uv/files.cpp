// SPDX-License-Identifier: Apache-2.0
#include "fermata/uv/files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/os/gathered_send.hpp"
#include "fermata/os/socket_address.hpp"

namespace fermata::uv::detail {

namespace {

constexpr std::uint32_t kPermissionBits = 07777;

int flags_of(const OpenMode& mode) {
  int flags = O_NOCTTY | O_CLOEXEC | (mode.write ? (mode.read ? O_RDWR : O_WRONLY) : O_RDONLY);
  if (mode.create) flags |= O_CREAT;
  if (mode.exclusive) flags |= O_EXCL;
  if (mode.truncate) flags |= O_TRUNC;
  if (mode.append) flags |= O_APPEND;
  return flags;
}

FileType type_of(std::uint64_t mode) {
  if (S_ISREG(mode)) return FileType::Regular;
  if (S_ISDIR(mode)) return FileType::Directory;
  return S_ISLNK(mode) ? FileType::SymbolicLink : FileType::Other;
}

FileType type_of(uv_dirent_type_t type) {
  switch (type) {
    case UV_DIRENT_FILE:
      return FileType::Regular;
    case UV_DIRENT_DIR:
      return FileType::Directory;
    case UV_DIRENT_LINK:
      return FileType::SymbolicLink;
    default:
      return FileType::Other;
  }
}

FileStatus status_of(const uv_stat_t& status) {
  return {type_of(status.st_mode), status.st_size,
          static_cast<std::uint32_t>(status.st_mode & kPermissionBits), status.st_nlink,
          WallTime{status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec}};
}

/// On a worker's thread. Returns an error code.
int sync_directory(const char* path) {
  const int descriptor = ::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return errno;
  const int code = ::fsync(descriptor) == 0 ? 0 : errno;
  ::close(descriptor);
  return code;
}

/// What is read for a sink that is full: little, since libuv waits until there is room for more.
constexpr std::uint64_t kNextBytes = 16 * 1024;

/// Bytes that are copied at once: the first-level cache holds them.
constexpr std::uint64_t kCopiedBytes = 32 * 1024;

/// Sends up to `most` bytes of the file and moves `offset` on, like sendfile(): returns how many,
/// or -1 and errno.
ssize_t copy_some(backend::FileOperation& operation, off_t& offset, std::uint64_t most) {
  const std::uint64_t size = std::min({kCopiedBytes, std::uint64_t{operation.size}, most});
  const ssize_t read = ::pread(operation.file, operation.bytes.get(), size, offset);
  if (read <= 0) return read;
  os::GatheredSend piece;
  piece.add({operation.bytes.get(), static_cast<std::size_t>(read)});
  const ssize_t sent = piece.send(operation.sink_descriptor, MSG_DONTWAIT | MSG_NOSIGNAL);
  FERMATA_ASSERT(sent <= read);
  if (sent > 0) offset += sent;
  return sent;
}

/// On a worker's thread. Returns an error code. A device fetches the pages of a file itself. A peer
/// within this machine copies them, which is faster from memory that is in the caches.
int send_and_read(backend::FileOperation& operation, std::size_t& moved) {
  auto offset = static_cast<off_t>(operation.offset);
  std::uint64_t next = kNextBytes;
  const bool copies = os::peer_address_of(operation.sink_descriptor).is_loopback();
  while (operation.sent < operation.length) {
    const std::uint64_t left = operation.length - operation.sent;
    const ssize_t sent = copies
                             ? copy_some(operation, offset, left)
                             : ::sendfile(operation.sink_descriptor, operation.file, &offset, left);
    if (sent == 0) return 0;  // The end of the file.
    if (sent > 0) {
      operation.sent += static_cast<std::uint64_t>(sent);
      FERMATA_ASSERT(operation.sent <= operation.length);
    } else if (errno != EINTR) {
      // Whatever else is wrong with the target, its own write will tell.
      if (errno != EAGAIN) next = operation.size;
      break;
    }
  }
  const auto size =
      std::min({next, std::uint64_t{operation.size}, operation.length - operation.sent});
  if (size == 0) return 0;
  const ssize_t read = ::pread(operation.file, operation.bytes.get(), size, offset);
  if (read < 0) return errno;
  moved = static_cast<std::size_t>(read);
  FERMATA_ASSERT(moved <= operation.size);
  return 0;
}

/// A lock that somebody else has is asked for again after this long, then after twice as long each
/// time: the system tells nobody that it has become free.
constexpr Duration kFirstPause = std::chrono::milliseconds(1);
constexpr Duration kLongestPause = std::chrono::milliseconds(50);

/// On a worker's thread. Returns an error code; `moved` becomes 1 when the lock is taken.
int try_lock(const backend::FileOperation& operation, std::size_t& moved) {
  const int kind = operation.lock == backend::FileLockKind::Shared ? LOCK_SH : LOCK_EX;
  while (::flock(operation.file, kind | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return 0;
    if (errno != EINTR) return errno;
  }
  moved = 1;
  return 0;
}

/// On a worker's thread. Returns an error code.
int work_on(backend::FileOperation& operation, std::size_t& moved) {
  switch (operation.call) {
    case backend::FileCall::Read:
      return send_and_read(operation, moved);
    case backend::FileCall::Lock:
      return try_lock(operation, moved);
    default:
      return sync_directory(operation.path.c_str());
  }
}

}  // namespace

/// The time between two attempts to take a lock.
struct Files::Pause {
  explicit Pause(Job& job);

  /// Ends the pause; false when none goes on.
  bool stop() noexcept;
  void begin();

  Job& job;
  Timer timer;
  Subscription on_end;
  Duration next = kFirstPause;
  bool goes_on = false;
};

struct Files::Job {
  Files& files;
  backend::FileOperation& operation;
  union {
    uv_fs_t fs;
    uv_work_t work;
  };
  int work_code = 0;
  std::size_t work_moved = 0;
  std::unique_ptr<Pause> pause;  // While somebody else has the lock.
  bool withdrawn = false;

  Job(Files& f, backend::FileOperation& o) : files(f), operation(o), fs{} {}

  [[nodiscard]] bool is_work() const {
    return operation.call == backend::FileCall::SyncDirectory ||
           operation.call == backend::FileCall::Lock || operation.sink_descriptor >= 0;
  }
  [[nodiscard]] uv_req_t* request() { return reinterpret_cast<uv_req_t*>(&fs); }
  int begin();
  void end(int code, std::size_t moved);

  static void fs_done(uv_fs_t* request) noexcept {
    auto* const job = static_cast<Job*>(request->data);
    job->files.loop_.complete([job] {
      const auto result = job->fs.result;
      if (result < 0) return job->end(static_cast<int>(-result), 0);
      job->collect();
      job->end(0, static_cast<std::size_t>(result));
    });
  }
  static void run_work(uv_work_t* request) noexcept {
    auto* const job = static_cast<Job*>(request->data);
    job->work_code = work_on(job->operation, job->work_moved);
  }
  static void do_nothing(uv_work_t*) noexcept {}
  static void work_done(uv_work_t* request, int status) noexcept {
    auto* const job = static_cast<Job*>(request->data);
    job->files.loop_.complete([job, status] { job->worked(status); });
  }
  void worked(int status);
  void begin_work(uv_work_cb run);

  void collect();
};

int Files::Job::begin() {
  uv_loop_t* const loop = files.loop_.get();
  if (is_work()) {
    begin_work(run_work);
    return 0;
  }
  const backend::FileOperation& op = operation;
  const char* const path = op.path.c_str();
  const auto permissions = static_cast<int>(op.mode.permissions);
  const auto offset = static_cast<std::int64_t>(op.offset);
  const std::span<std::byte> rest = op.rest();
  FERMATA_ASSERT(rest.size() <= backend::kTransferMax);
  const uv_buf_t buffer =
      uv_buf_init(reinterpret_cast<char*>(rest.data()), static_cast<unsigned>(rest.size()));
  switch (op.call) {
    case backend::FileCall::Read:
      return uv_fs_read(loop, &fs, op.file, &buffer, 1, offset, fs_done);
    case backend::FileCall::Write:
      return uv_fs_write(loop, &fs, op.file, &buffer, 1, offset, fs_done);
    case backend::FileCall::Sync:
      return uv_fs_fsync(loop, &fs, op.file, fs_done);
    case backend::FileCall::SyncData:
      return uv_fs_fdatasync(loop, &fs, op.file, fs_done);
    case backend::FileCall::Status:
      return uv_fs_fstat(loop, &fs, op.file, fs_done);
    case backend::FileCall::Truncate:
      return uv_fs_ftruncate(loop, &fs, op.file, static_cast<std::int64_t>(op.length), fs_done);
    case backend::FileCall::Close:
      return uv_fs_close(loop, &fs, op.file, fs_done);
    case backend::FileCall::Open:
      return uv_fs_open(loop, &fs, path, flags_of(op.mode), permissions, fs_done);
    case backend::FileCall::PathStatus:
      return uv_fs_stat(loop, &fs, path, fs_done);
    case backend::FileCall::Rename:
      return uv_fs_rename(loop, &fs, path, op.target.c_str(), fs_done);
    case backend::FileCall::Link:
      return uv_fs_link(loop, &fs, path, op.target.c_str(), fs_done);
    case backend::FileCall::Remove:
      return uv_fs_unlink(loop, &fs, path, fs_done);
    case backend::FileCall::MakeDirectory:
      return uv_fs_mkdir(loop, &fs, path, permissions, fs_done);
    case backend::FileCall::RemoveDirectory:
      return uv_fs_rmdir(loop, &fs, path, fs_done);
    case backend::FileCall::ListDirectory:
      return uv_fs_scandir(loop, &fs, path, 0, fs_done);
    case backend::FileCall::Lock:
    case backend::FileCall::SyncDirectory:
      break;
  }
  return UV_ENOSYS;
}

void Files::Job::begin_work(uv_work_cb run) {
  const int code = uv_queue_work(files.loop_.get(), &work, run, work_done);
  FERMATA_ASSERT(code == 0);
}

void Files::Job::worked(int status) {
  FERMATA_ASSERT(is_work());
  if (status < 0) return end(-status, 0);
  const bool is_hindered =
      operation.call == backend::FileCall::Lock && work_code == 0 && work_moved == 0;
  if (!is_hindered || !(operation.waits || withdrawn)) return end(work_code, work_moved);
  if (withdrawn) return end(ECANCELED, 0);
  if (!pause) pause = std::make_unique<Pause>(*this);
  pause->begin();
}

Files::Pause::Pause(Job& j)
    : job(j), timer(j.files.attachment_.runtime(), kFirstPause, TimerMode::Multishot) {
  timer.set_hidden(true);
  on_end = subscribe(timer, [this](Event&, const Outcome&) {
    FERMATA_ASSERT(goes_on && !job.withdrawn);
    goes_on = false;
    job.begin_work(Job::run_work);
  });
}

void Files::Pause::begin() {
  FERMATA_ASSERT(!goes_on);
  FERMATA_ASSERT(job.operation.waits);
  goes_on = true;
  timer.rearm(next);
  next = std::min(next * 2, kLongestPause);
}

bool Files::Pause::stop() noexcept {
  timer.stop();
  return std::exchange(goes_on, false);
}

void Files::Job::collect() {
  if (fs.fs_type == UV_FS_STAT || fs.fs_type == UV_FS_FSTAT) {
    operation.status = status_of(fs.statbuf);
  } else if (fs.fs_type == UV_FS_SCANDIR) {
    uv_dirent_t entry;
    while (uv_fs_scandir_next(&fs, &entry) == 0) {
      operation.entries.push_back({entry.name, type_of(entry.type)});
    }
  }
}

void Files::Job::end(int code, std::size_t moved) {
  FERMATA_ASSERT(operation.job == this);
  FERMATA_ASSERT(code >= 0);
  const std::unique_ptr<Job> self(this);
  if (!is_work()) uv_fs_req_cleanup(&fs);
  files.finished(operation, code, moved);
}

int Files::enqueue(backend::FileOperation& operation) {
  auto job = std::make_unique<Job>(*this, operation);
  job->fs.data = job.get();
  const int code = job->begin();
  if (code < 0) return -code;
  operation.job = job.release();
  return 0;
}

void Files::withdraw(backend::FileOperation& operation) noexcept {
  FERMATA_ASSERT(operation.job != nullptr);
  Job& job = *static_cast<Job*>(operation.job);
  if (std::exchange(job.withdrawn, true)) return;  // Its request may have ended, untold as yet.
  if (job.pause && job.pause->stop())
    return job.begin_work(Job::do_nothing);  // It ends in a turn, as every job.
  uv_cancel(job.request());
}

void Files::unlock(int file) noexcept { ::flock(file, LOCK_UN); }

}  // namespace fermata::uv::detail
