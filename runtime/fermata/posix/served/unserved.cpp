// SPDX-License-Identifier: Apache-2.0

// What nothing serves yet: processes, terminals, and what the C library does with files by itself.
// Simulated code that calls one of these would read and change the real world; so the run fails,
// and the call fails with ENOSYS.

#include <grp.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "fermata/base/assert.hpp"
#include "fermata/posix/foreign_code.hpp"
#include "fermata/posix/kernel.hpp"
#include "fermata/posix/served/real.hpp"

namespace {

/// Whether the call of `function` from `caller` must not happen; then the run has failed.
bool is_refused(const char* function, const void* caller) {
  fermata::posix::Kernel* const kernel = fermata::posix::serving_machine();
  if (kernel == nullptr || fermata::posix::is_system_code(caller)) return false;
  FERMATA_ASSERT(caller != nullptr);
  kernel->refuse(function, caller);
  errno = ENOSYS;
  return true;
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

extern "C" {

FERMATA_UNSERVED(int, mkfifo, (const char* path, mode_t mode), (path, mode), noexcept)
FERMATA_UNSERVED(int, mknod, (const char* path, mode_t mode, dev_t device), (path, mode, device),
                 noexcept)
FERMATA_UNSERVED(int, execv, (const char* path, char* const* arguments), (path, arguments),
                 noexcept)
FERMATA_UNSERVED(int, execvp, (const char* file, char* const* arguments), (file, arguments),
                 noexcept)
FERMATA_UNSERVED(int, system, (const char* command), (command), )
FERMATA_UNSERVED(pid_t, waitpid, (pid_t process, int* status, int options),
                 (process, status, options), )
FERMATA_UNSERVED(FILE*, popen, (const char* command, const char* mode), (command, mode), )
FERMATA_UNSERVED(int, pclose, (FILE * stream), (stream), )
FERMATA_UNSERVED(int, shmget, (key_t key, size_t size, int flags), (key, size, flags), noexcept)
FERMATA_UNSERVED(void*, shmat, (int segment, const void* address, int flags),
                 (segment, address, flags), noexcept)
FERMATA_UNSERVED(int, shmdt, (const void* address), (address), noexcept)
FERMATA_UNSERVED(int, nice, (int increment), (increment), noexcept)
FERMATA_UNSERVED(int, getpriority, (__priority_which_t which, id_t who), (which, who), noexcept)
FERMATA_UNSERVED(int, setpriority, (__priority_which_t which, id_t who, int priority),
                 (which, who, priority), noexcept)
FERMATA_UNSERVED(group*, getgrgid, (gid_t group), (group), )
FERMATA_UNSERVED(char*, getlogin, (), (), )
FERMATA_UNSERVED(int, sched_setscheduler,
                 (pid_t process, int policy, const sched_param* parameters),
                 (process, policy, parameters), noexcept)
FERMATA_UNSERVED(int, tcgetattr, (int descriptor, termios* attributes), (descriptor, attributes),
                 noexcept)
FERMATA_UNSERVED(int, tcsetattr, (int descriptor, int actions, const termios* attributes),
                 (descriptor, actions, attributes), noexcept)
FERMATA_UNSERVED(int, ttyname_r, (int descriptor, char* buffer, size_t size),
                 (descriptor, buffer, size), noexcept)
FERMATA_UNSERVED(pid_t, setsid, (), (), noexcept)
FERMATA_UNSERVED(int, setuid, (uid_t user), (user), noexcept)
FERMATA_UNSERVED(int, setgid, (gid_t group), (group), noexcept)
FERMATA_UNSERVED(int, setgroups, (size_t count, const gid_t* groups), (count, groups), noexcept)

}  // extern "C"
