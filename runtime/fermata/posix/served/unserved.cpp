// SPDX-License-Identifier: Apache-2.0

// What nothing serves yet: files, streams of stdio, processes. Simulated code that calls one of
// these would read and change the real world; so the run fails, and the call fails with ENOSYS.
// Devices without a state can be opened. What the C++ library does for a stream of its own goes on
// to the C library.

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "fermata/posix/foreign_code.hpp"
#include "fermata/posix/kernel.hpp"
#include "fermata/posix/served/real.hpp"

namespace {

/// Whether the call of `function` from `caller` must not happen; then the run has failed.
bool is_refused(const char* function, const void* caller) {
  fermata::posix::Kernel* const kernel = fermata::posix::serving_machine();
  if (kernel == nullptr || fermata::posix::is_system_code(caller)) return false;
  kernel->refuse(function, caller);
  errno = ENOSYS;
  return true;
}

/// The descriptor of a served device; -1 for any other path.
int open_device(const char* path, int flags, const void* caller) {
  fermata::posix::Kernel* const kernel = fermata::posix::serving_machine();
  if (kernel == nullptr || fermata::posix::is_system_code(caller)) return -1;
  return kernel->open_device(path, flags);
}

/// Waits until `target` takes data again; false, with errno, when it does not look as if it blocks,
/// or nothing is to be waited for any more.
bool wait_to_write(int target) noexcept {
  const bool blocks = (::fcntl(target, F_GETFL) & O_NONBLOCK) == 0;
  fermata::posix::Kernel* const kernel = fermata::posix::managing(target);
  if (!blocks || kernel == nullptr) {
    errno = EAGAIN;
    return false;
  }
  pollfd asked = {target, POLLOUT, 0};
  return fermata::posix::answer(kernel->poll({&asked, 1}, std::nullopt)) > 0;
}

/// What a function returns that fails.
struct Failed {
  template <class T>
  operator T*() const noexcept {
    return nullptr;
  }
  template <class T>
  operator T() const noexcept {
    return T{-1};
  }
};

}  // namespace

#define FERMATA_UNSERVED(result, name, parameters, arguments, exceptions) \
  result name parameters exceptions {                                     \
    if (is_refused(#name, __builtin_return_address(0))) return Failed{};  \
    return FERMATA_REAL(name) arguments;                                  \
  }

#define FERMATA_UNSERVED_OPEN(name, parameters, first_arguments)              \
  int name parameters {                                                       \
    va_list mode_behind;                                                      \
    va_start(mode_behind, flags);                                             \
    const mode_t mode = va_arg(mode_behind, mode_t);                          \
    va_end(mode_behind);                                                      \
    const int device = open_device(path, flags, __builtin_return_address(0)); \
    if (device >= 0) return device;                                           \
    if (is_refused(#name, __builtin_return_address(0))) return Failed{};      \
    return FERMATA_REAL(name)(first_arguments, flags, mode);                  \
  }

#define FERMATA_UNSERVED_TRANSFER(name, parameters, arguments)                           \
  ssize_t name parameters noexcept {                                                     \
    if (is_refused(#name, __builtin_return_address(0))) return Failed{};                 \
    for (;;) {                                                                           \
      const ssize_t size_sent = FERMATA_REAL(name) arguments;                            \
      if (size_sent >= 0 || errno != EAGAIN || !wait_to_write(target)) return size_sent; \
    }                                                                                    \
  }

#define FERMATA_PATH_AT directory, path

extern "C" {

// Spellings that headers do not declare.
int __open_2(const char* path, int flags);
int __open64_2(const char* path, int flags);

FERMATA_UNSERVED_OPEN(open, (const char* path, int flags, ...), path)
FERMATA_UNSERVED_OPEN(open64, (const char* path, int flags, ...), path)
FERMATA_UNSERVED_OPEN(openat, (int directory, const char* path, int flags, ...), FERMATA_PATH_AT)
FERMATA_UNSERVED_OPEN(openat64, (int directory, const char* path, int flags, ...), FERMATA_PATH_AT)
// With _FORTIFY_SOURCE these stand for open() and open64() without a mode.
int __open_2(const char* path, int flags) {
  const int device = open_device(path, flags, __builtin_return_address(0));
  if (device >= 0) return device;
  if (is_refused("open", __builtin_return_address(0))) return Failed{};
  return FERMATA_REAL(__open_2)(path, flags);
}

int __open64_2(const char* path, int flags) {
  const int device = open_device(path, flags, __builtin_return_address(0));
  if (device >= 0) return device;
  if (is_refused("open64", __builtin_return_address(0))) return Failed{};
  return FERMATA_REAL(__open64_2)(path, flags);
}

FERMATA_UNSERVED(int, access, (const char* path, int mode), (path, mode), noexcept)
FERMATA_UNSERVED(int, chdir, (const char* path), (path), noexcept)
FERMATA_UNSERVED(int, chmod, (const char* path, mode_t mode), (path, mode), noexcept)
FERMATA_UNSERVED(int, creat, (const char* path, mode_t mode), (path, mode), )
FERMATA_UNSERVED(int, fallocate, (int descriptor, int mode, off_t offset, off_t size),
                 (descriptor, mode, offset, size), )
FERMATA_UNSERVED(int, fdatasync, (int descriptor), (descriptor), )
FERMATA_UNSERVED(int, flock, (int descriptor, int operation), (descriptor, operation), noexcept)
FERMATA_UNSERVED(int, fstat, (int descriptor, struct stat* status), (descriptor, status), noexcept)
FERMATA_UNSERVED(int, fstat64, (int descriptor, struct stat64* status), (descriptor, status),
                 noexcept)
FERMATA_UNSERVED(int, fsync, (int descriptor), (descriptor), )
FERMATA_UNSERVED(int, ftruncate, (int descriptor, off_t size), (descriptor, size), noexcept)
FERMATA_UNSERVED(int, ftruncate64, (int descriptor, off64_t size), (descriptor, size), noexcept)
FERMATA_UNSERVED(int, link, (const char* from, const char* to), (from, to), noexcept)
FERMATA_UNSERVED(off_t, lseek, (int descriptor, off_t offset, int from), (descriptor, offset, from),
                 noexcept)
FERMATA_UNSERVED(off64_t, lseek64, (int descriptor, off64_t offset, int from),
                 (descriptor, offset, from), noexcept)
FERMATA_UNSERVED(int, lstat, (const char* path, struct stat* status), (path, status), noexcept)
FERMATA_UNSERVED(int, lstat64, (const char* path, struct stat64* status), (path, status), noexcept)
FERMATA_UNSERVED(int, mkdir, (const char* path, mode_t mode), (path, mode), noexcept)
FERMATA_UNSERVED(int, mkstemp, (char* name), (name), )
FERMATA_UNSERVED(int, mkstemp64, (char* name), (name), )
FERMATA_UNSERVED(int, posix_fallocate, (int descriptor, off_t offset, off_t size),
                 (descriptor, offset, size), )
FERMATA_UNSERVED(ssize_t, pread, (int descriptor, void* buffer, size_t size, off_t offset),
                 (descriptor, buffer, size, offset), )
FERMATA_UNSERVED(ssize_t, pread64, (int descriptor, void* buffer, size_t size, off64_t offset),
                 (descriptor, buffer, size, offset), )
FERMATA_UNSERVED(ssize_t, pwrite, (int descriptor, const void* data, size_t size, off_t offset),
                 (descriptor, data, size, offset), )
FERMATA_UNSERVED(ssize_t, pwrite64, (int descriptor, const void* data, size_t size, off64_t offset),
                 (descriptor, data, size, offset), )
FERMATA_UNSERVED(ssize_t, readlink, (const char* path, char* buffer, size_t size),
                 (path, buffer, size), noexcept)
FERMATA_UNSERVED(int, rename, (const char* from, const char* to), (from, to), noexcept)
FERMATA_UNSERVED(int, rmdir, (const char* path), (path), noexcept)
FERMATA_UNSERVED(int, stat, (const char* path, struct stat* status), (path, status), noexcept)
FERMATA_UNSERVED(int, stat64, (const char* path, struct stat64* status), (path, status), noexcept)
FERMATA_UNSERVED(int, symlink, (const char* from, const char* to), (from, to), noexcept)
FERMATA_UNSERVED(int, unlink, (const char* path), (path), noexcept)
FERMATA_UNSERVED_TRANSFER(sendfile, (int target, int source, off_t* offset, size_t size),
                          (target, source, offset, size))
FERMATA_UNSERVED_TRANSFER(sendfile64, (int target, int source, off64_t* offset, size_t size),
                          (target, source, offset, size))
FERMATA_UNSERVED(int, inotify_init, (), (), noexcept)
FERMATA_UNSERVED(int, inotify_init1, (int flags), (flags), noexcept)
FERMATA_UNSERVED(int, signalfd, (int descriptor, const sigset_t* mask, int flags),
                 (descriptor, mask, flags), noexcept)
FERMATA_UNSERVED(int, execv, (const char* path, char* const* arguments), (path, arguments),
                 noexcept)
FERMATA_UNSERVED(int, execvp, (const char* file, char* const* arguments), (file, arguments),
                 noexcept)
FERMATA_UNSERVED(int, system, (const char* command), (command), )
FERMATA_UNSERVED(pid_t, waitpid, (pid_t process, int* status, int options),
                 (process, status, options), )
FERMATA_UNSERVED(DIR*, opendir, (const char* path), (path), )
FERMATA_UNSERVED(FILE*, fdopen, (int descriptor, const char* mode), (descriptor, mode), noexcept)
FERMATA_UNSERVED(FILE*, fopen, (const char* path, const char* mode), (path, mode), )
FERMATA_UNSERVED(FILE*, fopen64, (const char* path, const char* mode), (path, mode), )
FERMATA_UNSERVED(FILE*, popen, (const char* command, const char* mode), (command, mode), )

}  // extern "C"
