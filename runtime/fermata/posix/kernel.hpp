// SPDX-License-Identifier: Apache-2.0
#pragma once

// What code that was not written for Fermata sees as its operating system. A program that links
// fermata::posix defines the functions of the C library that touch the world: sockets, descriptors,
// polls, names, clocks, random numbers. While a kernel serves a thread, calls of them go to that
// kernel; else they go on to the C library.
//
// Operations  One method for each, however many functions spell it.
// Results     As the system's: what the man page says, or a negative errno. None throws, but for a
//             method that may suspend: it may leave the foreign code that called it, by an
//             exception, when that goes on forever although it is to end.
// Waiting     A method may suspend the current coroutine, unless it says that it does not. One that
//             is cancelled meanwhile answers -EINTR, and -ECANCELED from then on; the cancellation
//             is thrown by the next operation of Fermata that waits, or at the end of a scope.

#include <netdb.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/uio.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace fermata::posix {

class Environment;
class Files;
class Heap;
class Signals;
class Threads;

struct ProcessState;

/// The longest time to wait; without one, forever.
using Limit = std::optional<std::chrono::nanoseconds>;

/// A network interface of the machine, with one of its addresses.
struct Interface {
  std::string name;
  unsigned index = 0;  // From 1.
  unsigned flags = 0;  // IFF_...
  sockaddr_storage address = {};
  sockaddr_storage netmask = {};
};

class Kernel {
 public:
  /// What is asked of it.
  enum class Extent : std::uint8_t {
    Machine,  // every call
    Waits,    // calls that may wait and those about descriptors; the C library does the rest
  };
  [[nodiscard]] Extent extent() const noexcept { return extent_; }

  // --- descriptors ---

  virtual ssize_t read(int descriptor, std::span<const iovec> target) = 0;
  virtual ssize_t write(int descriptor, std::span<const iovec> source) = 0;
  virtual int fstat(int descriptor, struct stat& status) = 0;
  /// Does not suspend.
  virtual int close(int descriptor) = 0;
  /// F_DUPFD as well. Suspends for a lock only.
  virtual int fcntl(int descriptor, int command, std::intptr_t argument) = 0;
  /// dup2(), dup3(). Does not suspend.
  virtual int duplicate_to(int descriptor, int target, int flags) = 0;
  /// Does not suspend.
  virtual int ioctl(int descriptor, unsigned long request, void* argument) = 0;
  /// The reading end first. Does not suspend.
  virtual int pipe(std::array<int, 2>& ends, int flags) = 0;

  // --- sockets ---

  /// Does not suspend; nor do those that follow, up to connect.
  virtual int socket(int domain, int type, int protocol) = 0;
  virtual int socketpair(int domain, int type, int protocol, std::array<int, 2>& ends) = 0;
  virtual int bind(int descriptor, const sockaddr* address, socklen_t size) = 0;
  virtual int listen(int descriptor, int backlog) = 0;
  virtual int getsockname(int descriptor, sockaddr* address, socklen_t* size) = 0;
  virtual int getpeername(int descriptor, sockaddr* address, socklen_t* size) = 0;
  virtual int getsockopt(int descriptor, int level, int name, void* value, socklen_t* size) = 0;
  virtual int setsockopt(int descriptor, int level, int name, const void* value,
                         socklen_t size) = 0;
  virtual int shutdown(int descriptor, int how) = 0;
  virtual int connect(int descriptor, const sockaddr* address, socklen_t size) = 0;
  /// `address` and `size` may be null.
  virtual int accept(int descriptor, sockaddr* address, socklen_t* size, int flags) = 0;
  virtual ssize_t receive(int descriptor, msghdr& message, int flags) = 0;
  virtual ssize_t send(int descriptor, const msghdr& message, int flags) = 0;

  // --- readiness ---

  virtual int poll(std::span<pollfd> asked, Limit limit) = 0;
  /// Does not suspend; nor do those that follow, but for epoll_wait.
  virtual int epoll_create(int flags) = 0;
  virtual int epoll_ctl(int epoll, int operation, int descriptor, const epoll_event* event) = 0;
  virtual int epoll_wait(int epoll, std::span<epoll_event> room, Limit limit) = 0;
  virtual int eventfd(unsigned count, int flags) = 0;
  virtual int timerfd_create(clockid_t clock, int flags) = 0;
  /// `before` may be null.
  virtual int timerfd_settime(int descriptor, int flags, const itimerspec& setting,
                              itimerspec* before) = 0;
  virtual int timerfd_gettime(int descriptor, itimerspec& left) = 0;

  // --- names ---

  /// What getaddrinfo() gives: 0 or one of EAI_..., with errno for EAI_SYSTEM. The addresses in
  /// order, each once, with the port of `service`; `hints` are looked at for the family and AI_
  /// flags only.
  virtual int addresses_of(const char* host, const char* service, const addrinfo& hints,
                           std::vector<sockaddr_storage>& found) = 0;
  /// What getnameinfo() gives: 0 or one of EAI_....
  virtual int name_of(const sockaddr* address, socklen_t size, int flags, std::string& host,
                      std::string& service) = 0;
  /// Does not suspend.
  [[nodiscard]] virtual std::string host_name() = 0;
  /// Does not suspend.
  [[nodiscard]] virtual std::vector<Interface> interfaces() = 0;

  // --- time ---

  virtual int clock_gettime(clockid_t clock, timespec& time) = 0;
  /// Does not suspend.
  virtual int clock_settime(clockid_t clock, const timespec& time) = 0;
  /// `left` may be null.
  virtual int sleep(clockid_t clock, int flags, const timespec& time, timespec* left) = 0;
  /// sched_yield().
  virtual void yield() = 0;

  // --- threads ---

  /// Who serves threads, mutexes and their like; null: the C library does.
  [[nodiscard]] virtual Threads* threads() noexcept = 0;
  /// Who serves signals; null: the system does.
  [[nodiscard]] virtual Signals* signals() noexcept = 0;

  // --- what is not served, and the end of the process ---

  /// A foreign library has called, from `caller`, a function that nothing serves. Does not suspend.
  virtual void refuse(const char* function, const void* caller) = 0;
  /// A foreign library has ended the process, `why` says how. Leaves the library by an exception.
  [[noreturn]] virtual void abort(std::string why) = 0;
  /// std::terminate() has been called; `why` says for which exception, or is empty. Returns if it
  /// is to end the program.
  virtual void terminate(std::string why) = 0;

  /// What getenv() of foreign libraries knows; null: the variables of the real process.
  [[nodiscard]] virtual Environment* environment() noexcept { return nullptr; }

  /// What the process has set and may read; null: that of the real process.
  [[nodiscard]] virtual ProcessState* state() noexcept { return nullptr; }

  // --- files ---

  /// Null: files are the C library's.
  [[nodiscard]] virtual Files* files() noexcept = 0;

  // --- random numbers: none suspends ---

  virtual void fill_randomly(std::span<std::byte> target) = 0;
  /// rand() and random() of the process: the C library's generator, with a state of its own.
  virtual std::int32_t next_random() = 0;
  virtual void seed_random(unsigned seed) = 0;

 protected:
  explicit constexpr Kernel(Extent extent = Extent::Machine) noexcept : extent_(extent) {}
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  ~Kernel() = default;

 private:
  Extent extent_;
};

/// Descriptors that block as far as their users can see, and do not underneath. A call on one that
/// nobody serves goes to a kernel that makes it look so.
class Disguises {
 public:
  /// For calls that transfer or connect; null when what the descriptor looks like is what it is. A
  /// handler of a signal may call it.
  [[nodiscard]] virtual Kernel* kernel_of(int descriptor) noexcept = 0;
  /// For calls that manage the descriptor; null when it has no disguise.
  [[nodiscard]] virtual Kernel* keeper_of(int descriptor) noexcept = 0;

 protected:
  ~Disguises() = default;
};

/// The kernel that serves this thread now; null when calls go to the C library.
extern constinit thread_local Kernel* serving;

/// The kernel that serves this thread, if it serves every call; else null.
[[nodiscard]] inline Kernel* serving_machine() noexcept {
  Kernel* const kernel = serving;
  const bool serves = kernel != nullptr && kernel->extent() == Kernel::Extent::Machine;
  return serves ? kernel : nullptr;
}

/// Null while no descriptor has a disguise.
extern constinit std::atomic<Disguises*> disguises;

/// Where the served call was made that may wait; for people.
extern constinit thread_local const void* caller;

/// While it lives `kernel` serves this thread, and foreign libraries allocate in `heap`. Either may
/// be null: then the C library does it.
class Serving {
 public:
  Serving(Kernel* kernel, Heap* heap) noexcept;
  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;
  ~Serving();

 private:
  Kernel* kernel_before_;
  Heap* heap_before_;
};

/// Whether this program has fermata::posix linked in.
[[nodiscard]] bool is_linked() noexcept;

namespace detail {
/// Called once, by what fermata::posix does when the program starts.
void set_linked() noexcept;
}  // namespace detail

}  // namespace fermata::posix
