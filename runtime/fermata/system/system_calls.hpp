// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kernel as reactors see it: one table of the calls that they make.
//
// Use       os::kernel.read(...) is read(2), errno included. The default is the real kernel; a call
//           through the table costs what a call of a shared library costs.
// Replace   A test fills a table of its own, from SystemCalls() or from `kernel`, and puts it in
//           for as long as a ReplacedKernel lives.
// Served    Where functions of the C library are defined anew, for code that was not written for
//           Fermata (fermata::posix), this table still has those of the C library.
// Grow      A call that is not here yet is one line: its signature, and the real one.
// Signals   Handlers may call through it.
// Not here  The beginning and the end of threads, the masks of signals and the identity of
//           processes, which are not matter of a kernel that answers otherwise; the calls that
//           libev, libevent, liburing and libuv make inside.

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include <csignal>
#include <ctime>
#include <utility>

namespace fermata::os {

struct SystemCalls {
  // --- time ---

  int (*clock_gettime)(clockid_t clock, timespec* time) = ::clock_gettime;
  int (*timerfd_create)(clockid_t clock, int flags) = ::timerfd_create;
  int (*timerfd_settime)(int descriptor, int flags, const itimerspec* setting,
                         itimerspec* before) = ::timerfd_settime;
  int (*timerfd_gettime)(int descriptor, itimerspec* left) = ::timerfd_gettime;

  // --- any descriptor ---

  int (*close)(int descriptor) = ::close;
  int (*dup2)(int descriptor, int target) = ::dup2;
  int (*dup3)(int descriptor, int target, int flags) = ::dup3;
  int (*eventfd)(unsigned count, int flags) = ::eventfd;
  int (*fcntl)(int descriptor, int command, ...) = ::fcntl;
  int (*fstat)(int descriptor, struct stat* status) = ::fstat;
  int (*ioctl)(int descriptor, unsigned long request, ...) = ::ioctl;
  int (*ftruncate)(int descriptor, off_t size) = ::ftruncate;
  int (*pipe2)(int* ends, int flags) = ::pipe2;
  int (*open)(const char* path, int flags, ...) = ::open;
  ssize_t (*pread)(int descriptor, void* buffer, size_t size, off_t offset) = ::pread;
  ssize_t (*read)(int descriptor, void* buffer, size_t size) = ::read;
  ssize_t (*readv)(int descriptor, const iovec* target, int count) = ::readv;
  ssize_t (*write)(int descriptor, const void* data, size_t size) = ::write;
  ssize_t (*writev)(int descriptor, const iovec* source, int count) = ::writev;

  // --- by number ---

  long (*syscall)(long number, ...) = ::syscall;

  // --- memory ---

  void* (*mmap)(void* address, size_t size, int protection, int flags, int descriptor,
                off_t offset) = ::mmap;
  int (*munmap)(void* address, size_t size) = ::munmap;

  // --- readiness ---

  int (*epoll_create1)(int flags) = ::epoll_create1;
  int (*epoll_ctl)(int epoll, int operation, int descriptor, epoll_event* event) = ::epoll_ctl;
  int (*epoll_wait)(int epoll, epoll_event* events, int room, int milliseconds) = ::epoll_wait;
  int (*epoll_pwait2)(int epoll, epoll_event* events, int room, const timespec* limit,
                      const sigset_t* mask) = ::epoll_pwait2;
  int (*poll)(pollfd* asked, nfds_t count, int milliseconds) = ::poll;
  int (*ppoll)(pollfd* asked, nfds_t count, const timespec* limit, const sigset_t* mask) = ::ppoll;
  int (*pselect)(int end, fd_set* readable, fd_set* writable, fd_set* exceptional,
                 const timespec* limit, const sigset_t* mask) = ::pselect;

  // --- sockets ---

  int (*socket)(int domain, int type, int protocol) = ::socket;
  int (*socketpair)(int domain, int type, int protocol, int* ends) = ::socketpair;
  int (*bind)(int descriptor, const sockaddr* address, socklen_t size) = ::bind;
  int (*listen)(int descriptor, int backlog) = ::listen;
  int (*accept4)(int descriptor, sockaddr* peer, socklen_t* size, int flags) = ::accept4;
  int (*connect)(int descriptor, const sockaddr* address, socklen_t size) = ::connect;
  int (*getsockname)(int descriptor, sockaddr* address, socklen_t* size) = ::getsockname;
  int (*getpeername)(int descriptor, sockaddr* address, socklen_t* size) = ::getpeername;
  int (*getsockopt)(int descriptor, int level, int name, void* value,
                    socklen_t* size) = ::getsockopt;
  int (*setsockopt)(int descriptor, int level, int name, const void* value,
                    socklen_t size) = ::setsockopt;
  ssize_t (*recv)(int descriptor, void* buffer, size_t size, int flags) = ::recv;
  ssize_t (*recvmsg)(int descriptor, msghdr* message, int flags) = ::recvmsg;
  ssize_t (*send)(int descriptor, const void* data, size_t size, int flags) = ::send;
  ssize_t (*sendmsg)(int descriptor, const msghdr* message, int flags) = ::sendmsg;
  int (*shutdown)(int descriptor, int how) = ::shutdown;

  // --- signals ---

  int (*sigaction)(int signal, const struct sigaction* action,
                   struct sigaction* before) = ::sigaction;
  sighandler_t (*signal)(int signal, sighandler_t handler) = ::signal;
  int (*pthread_sigmask)(int how, const sigset_t* mask, sigset_t* before) = ::pthread_sigmask;
  int (*kill)(pid_t process, int signal) = ::kill;
  int (*raise)(int signal) = ::raise;
  pid_t (*getpid)() = ::getpid;

  // --- locks among threads; see os::Mutex ---

  int (*pthread_mutex_lock)(pthread_mutex_t* mutex) = ::pthread_mutex_lock;
  int (*pthread_mutex_trylock)(pthread_mutex_t* mutex) = ::pthread_mutex_trylock;
  int (*pthread_mutex_unlock)(pthread_mutex_t* mutex) = ::pthread_mutex_unlock;
  int (*pthread_cond_signal)(pthread_cond_t* condition) = ::pthread_cond_signal;
  int (*pthread_cond_wait)(pthread_cond_t* condition, pthread_mutex_t* mutex) = ::pthread_cond_wait;
  int (*pthread_cond_clockwait)(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                const timespec* end) = ::pthread_cond_clockwait;
  pthread_t (*pthread_self)() = ::pthread_self;
  int (*pthread_getattr_np)(pthread_t thread, pthread_attr_t* attributes) = ::pthread_getattr_np;

  // --- names ---

  int (*getaddrinfo)(const char* host, const char* service, const addrinfo* hints,
                     addrinfo** list) = ::getaddrinfo;
  int (*getnameinfo)(const sockaddr* address, socklen_t size, char* host, socklen_t host_room,
                     char* service, socklen_t service_room, int flags) = ::getnameinfo;
};

/// The system calls of the whole process; tests replace them.
extern constinit SystemCalls kernel;

/// For tests: another kernel for as long as this lives. REQUIRES: no other thread makes calls when
/// it begins and when it ends, and what one kernel has opened is closed while that one is in.
class ReplacedKernel {
 public:
  explicit ReplacedKernel(const SystemCalls& calls) noexcept
      : before_(std::exchange(kernel, calls)) {}
  ReplacedKernel(const ReplacedKernel&) = delete;
  ReplacedKernel& operator=(const ReplacedKernel&) = delete;
  ~ReplacedKernel() { kernel = before_; }

 private:
  SystemCalls before_;
};

}  // namespace fermata::os
