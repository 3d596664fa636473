// SPDX-License-Identifier: Apache-2.0
#pragma once

// The real operating system for code that was not written for Fermata: each call is the system's,
// but for how it waits, which a Waiter does.
//
// Descriptors  One of three manners. Its user asked for one that does not block: calls are passed
//              on. It has a disguise: a call that would have to wait fails at once underneath, and
//              is made again. It blocks, since somebody else has made it: it is polled before each
//              call, and sockets are told to block in no call.
// Extent       What does not wait and concerns no descriptor does not come here.

#include "fermata/posix/kernel.hpp"
#include "fermata/posix/suspending/waiter.hpp"

namespace fermata::posix {

class SystemKernel final : public Kernel {
 public:
  explicit constexpr SystemKernel(Waiter& waiter) noexcept
      : Kernel(Extent::Waits), waiter_(waiter) {}

  ssize_t read(int descriptor, std::span<const iovec> target) override;
  ssize_t write(int descriptor, std::span<const iovec> source) override;
  int close(int descriptor) override;
  int fcntl(int descriptor, int command, std::intptr_t argument) override;
  int duplicate_to(int descriptor, int target, int flags) override;
  int ioctl(int descriptor, unsigned long request, void* argument) override;
  int pipe(std::array<int, 2>& ends, int flags) override;

  int socket(int domain, int type, int protocol) override;
  int socketpair(int domain, int type, int protocol, std::array<int, 2>& ends) override;
  int bind(int descriptor, const sockaddr* address, socklen_t size) override;
  int listen(int descriptor, int backlog) override;
  int getsockname(int descriptor, sockaddr* address, socklen_t* size) override;
  int getpeername(int descriptor, sockaddr* address, socklen_t* size) override;
  int getsockopt(int descriptor, int level, int name, void* value, socklen_t* size) override;
  int setsockopt(int descriptor, int level, int name, const void* value, socklen_t size) override;
  int shutdown(int descriptor, int how) override;
  int connect(int descriptor, const sockaddr* address, socklen_t size) override;
  int accept(int descriptor, sockaddr* address, socklen_t* size, int flags) override;
  ssize_t receive(int descriptor, msghdr& message, int flags) override;
  ssize_t send(int descriptor, const msghdr& message, int flags) override;

  int poll(std::span<pollfd> asked, Limit limit) override;
  int epoll_create(int flags) override;
  int epoll_ctl(int epoll, int operation, int descriptor, const epoll_event* event) override;
  int epoll_wait(int epoll, std::span<epoll_event> room, Limit limit) override;
  int eventfd(unsigned count, int flags) override;
  int timerfd_create(clockid_t clock, int flags) override;
  int timerfd_settime(int descriptor, int flags, const itimerspec& setting,
                      itimerspec* before) override;
  int timerfd_gettime(int descriptor, itimerspec& left) override;

  int addresses_of(const char* host, const char* service, const addrinfo& hints,
                   std::vector<sockaddr_storage>& found) override;
  int name_of(const sockaddr* address, socklen_t size, int flags, std::string& host,
              std::string& service) override;
  int sleep(clockid_t clock, int flags, const timespec& time, timespec* left) override;
  void yield() override;
  /// Null: they are the system's.
  [[nodiscard]] Threads* threads() noexcept override { return nullptr; }
  [[nodiscard]] Signals* signals() noexcept override { return nullptr; }
  [[nodiscard]] Files* files() noexcept override { return nullptr; }

  // --- not of its extent ---

  int fstat(int descriptor, struct stat& status) override;
  [[nodiscard]] std::string host_name() override;
  [[nodiscard]] std::vector<Interface> interfaces() override;
  int clock_gettime(clockid_t clock, timespec& time) override;
  int clock_settime(clockid_t clock, const timespec& time) override;
  void refuse(const char* function, const void* caller) override;
  [[noreturn]] void abort(std::string why) override;
  void terminate(std::string why) override;
  void fill_randomly(std::span<std::byte> target) override;
  std::int32_t next_random() override;
  void seed_random(unsigned seed) override;

 private:
  enum class Manner : std::uint8_t { NonBlocking, Disguised, Blocking };

  /// Whether a call waits that has nothing to do yet.
  enum class Waits : std::uint8_t { Never, AsItLooks, Always };

  /// How a call goes on when there is nothing to do yet.
  struct Way {
    int descriptor;
    short events;
    bool polls_first;  // An attempt might block.
    Waits waits;
    bool whole;        // Until all is transferred.
    int patience = 0;  // SO_RCVTIMEO or SO_SNDTIMEO: how long it waits; 0: without an end.
  };

  /// The way for a descriptor of this manner, to which no call of its own tells not to block.
  [[nodiscard]] static Way way_of(int descriptor, Manner manner, short events) noexcept;
  class Patience;

  [[nodiscard]] Manner manner_of(int descriptor) const noexcept;
  /// Calls `attempt` for what is left of `pieces` until something is transferred, or all.
  template <class Attempt>
  [[nodiscard]] ssize_t transfer(const Way& way, std::span<const iovec> pieces,
                                 const Attempt& attempt);
  /// Calls `attempt` until it has a result other than -EAGAIN.
  template <class Attempt>
  [[nodiscard]] int repeat(const Way& way, Patience& patience, const Attempt& attempt);
  [[nodiscard]] bool is_ready(const Way& way) const noexcept;
  [[nodiscard]] int wait(const Way& way, Limit limit);
  /// A poll has found nothing, and does not wait. 0, or the error that it ends with.
  [[nodiscard]] int idle();
  /// Makes `descriptor`, which does not block, look as its user asked for; returns it.
  [[nodiscard]] int disguised(int descriptor, bool looks_blocking);
  [[nodiscard]] int finish_connecting(int descriptor, const sockaddr* address, socklen_t size);
  [[nodiscard]] int connect_elsewhere(int descriptor, const sockaddr* address, socklen_t size);

  Waiter& waiter_;
  unsigned idle_calls_ = 0;  // Since something was waited for.
};

}  // namespace fermata::posix
