// SPDX-License-Identifier: Apache-2.0
#pragma once

// What threads of foreign code wait for, all in one form: tokens. Whoever takes one has been woken
// by whoever gave it, and no token is lost. Descriptors stay open as long as their process.

#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <optional>
#include <utility>

#include "fermata/base/time.hpp"

namespace fermata::test {

class WakeSource {
 public:
  using Limit = std::optional<std::chrono::milliseconds>;

  WakeSource() = default;
  WakeSource(const WakeSource&) = delete;
  WakeSource& operator=(const WakeSource&) = delete;
  virtual ~WakeSource() = default;

  /// Prepares the current thread for waiting.
  virtual void prepare() {}
  /// Waits for a token and takes it: 0, or what errno says.
  virtual int take(Limit limit) = 0;
  /// Whether a token is there; then it is taken. Waits for nothing.
  virtual bool try_take() { return false; }
  /// Gives a token; false when there can be no more now.
  virtual bool give() { return false; }

  /// Whether what take() gives is a token.
  [[nodiscard]] virtual bool counts() const { return true; }
  /// Whether take() may have a limit.
  [[nodiscard]] virtual bool has_limits() const { return false; }
  /// Whether take() ends with EINTR when somebody else has taken what it was woken for.
  [[nodiscard]] virtual bool may_be_taken() const { return false; }
  /// Whether the calls of take() end when their thread is cancelled.
  [[nodiscard]] virtual bool ends_threads() const { return true; }
  /// Whether they end when their coroutine is cancelled.
  [[nodiscard]] virtual bool ends_coroutines() const { return true; }
};

inline int error_of_call(long result) { return result < 0 ? errno : 0; }

inline timespec timespec_of(std::chrono::milliseconds span) {
  return {.tv_sec = span.count() / 1000, .tv_nsec = span.count() % 1000 * 1'000'000};
}

inline timespec time_in(clockid_t clock, std::chrono::milliseconds span) {
  timespec time = {};
  ::clock_gettime(clock, &time);
  const auto sum = std::chrono::nanoseconds(time.tv_nsec) + span;
  const auto seconds = std::chrono::floor<std::chrono::seconds>(sum);
  return {.tv_sec = time.tv_sec + seconds.count(), .tv_nsec = (sum - seconds).count()};
}

/// Bytes in a socket pair or pipe; each is a token.
class Bytes : public WakeSource {
 public:
  explicit Bytes(bool is_pipe) {
    if (is_pipe) {
      static_cast<void>(!::pipe(ends_.data()));
    } else {
      ::socketpair(AF_UNIX, SOCK_STREAM, 0, ends_.data());
    }
  }
  int take(Limit) override {
    char byte = 0;
    return error_of_call(::read(ends_[0], &byte, 1));
  }
  bool try_take() override {
    int bytes = 0;
    ::ioctl(ends_[0], FIONREAD, &bytes);
    return bytes > 0 && take({}) == 0;
  }
  bool give() override { return ::write(ends_[1], "x", 1) == 1; }

 protected:
  /// A byte that is there, without waiting for it.
  bool take_now() {
    char byte = 0;
    return ::recv(ends_[0], &byte, 1, MSG_DONTWAIT) == 1;
  }
  [[nodiscard]] static int milliseconds(Limit limit) {
    return limit ? static_cast<int>(limit->count()) : -1;
  }

  std::array<int, 2> ends_{};
};

class PolledBytes final : public Bytes {
 public:
  PolledBytes() : Bytes(false) {}
  [[nodiscard]] bool has_limits() const override { return true; }
  int take(Limit limit) override {
    for (;;) {
      pollfd asked = {.fd = ends_[0], .events = POLLIN, .revents = 0};
      const int ready = ::poll(&asked, 1, milliseconds(limit));
      if (ready <= 0) return ready == 0 ? ETIMEDOUT : errno;
      if (take_now()) return 0;
    }
  }
  bool try_take() override { return take_now(); }
};

class EpolledBytes final : public Bytes {
 public:
  EpolledBytes() : Bytes(false), epoll_(::epoll_create1(0)) {
    epoll_event event = {.events = EPOLLIN, .data = {.u64 = 0}};
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, ends_[0], &event);
  }
  [[nodiscard]] bool has_limits() const override { return true; }
  int take(Limit limit) override {
    for (;;) {
      epoll_event event = {};
      const int ready = ::epoll_wait(epoll_, &event, 1, milliseconds(limit));
      if (ready <= 0) return ready == 0 ? ETIMEDOUT : errno;
      if (take_now()) return 0;
    }
  }
  bool try_take() override { return take_now(); }

 private:
  int epoll_;
};

class Events final : public WakeSource {
 public:
  int take(Limit) override {
    std::uint64_t count = 0;
    return error_of_call(::read(descriptor_, &count, sizeof count));
  }
  bool try_take() override {
    pollfd asked = {.fd = descriptor_, .events = POLLIN, .revents = 0};
    return ::poll(&asked, 1, 0) == 1 && take({}) == 0;
  }
  bool give() override {
    const std::uint64_t one = 1;
    return ::write(descriptor_, &one, sizeof one) == sizeof one;
  }

 private:
  int descriptor_ = ::eventfd(0, EFD_SEMAPHORE);
};

/// Connections that a listener has in its line.
class Connections final : public WakeSource {
 public:
  Connections() {
    ::bind(listener_, reinterpret_cast<sockaddr*>(&address_), sizeof address_);
    ::listen(listener_, 100);
    socklen_t size = sizeof address_;
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address_), &size);
  }
  int take(Limit) override {
    const int accepted = ::accept(listener_, nullptr, nullptr);
    if (accepted < 0) return errno;
    ++accepted_;  // Whoever closes may end there.
    return 0;
  }
  bool try_take() override {
    pollfd asked = {.fd = listener_, .events = POLLIN, .revents = 0};
    return ::poll(&asked, 1, 0) == 1 && take({}) == 0;
  }
  bool give() override {
    const int client = ::socket(AF_INET, SOCK_STREAM, 0);
    return ::connect(client, reinterpret_cast<sockaddr*>(&address_), sizeof address_) == 0;
  }

 private:
  int listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address_ = {.sin_family = AF_INET,
                          .sin_port = 0,
                          .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)},
                          .sin_zero = {}};
  int accepted_ = 0;
};

class Condition final : public WakeSource {
 public:
  [[nodiscard]] bool has_limits() const override { return true; }
  int take(Limit limit) override {
    const Lock lock(mutex_);
    const timespec end = limit ? time_in(CLOCK_REALTIME, *limit) : timespec();
    while (count_ == 0) {
      const int code = limit ? ::pthread_cond_timedwait(&condition_, &mutex_, &end)
                             : ::pthread_cond_wait(&condition_, &mutex_);
      if (code != 0) return code;
    }
    --count_;
    return 0;
  }
  bool try_take() override {
    const Lock lock(mutex_);
    if (count_ == 0) return false;
    --count_;
    return true;
  }
  bool give() override {
    const Lock lock(mutex_);
    ++count_;
    ::pthread_cond_signal(&condition_);
    return true;
  }

 private:
  class Lock {
   public:
    explicit Lock(pthread_mutex_t& mutex) : mutex_(mutex) { ::pthread_mutex_lock(&mutex_); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
    ~Lock() { ::pthread_mutex_unlock(&mutex_); }

   private:
    pthread_mutex_t& mutex_;
  };

  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition_ = PTHREAD_COND_INITIALIZER;
  int count_ = 0;
};

class Semaphore final : public WakeSource {
 public:
  Semaphore() { ::sem_init(&semaphore_, 0, 0); }
  [[nodiscard]] bool has_limits() const override { return true; }
  int take(Limit limit) override {
    if (!limit) return error_of_call(::sem_wait(&semaphore_));
    const timespec end = time_in(CLOCK_REALTIME, *limit);
    return error_of_call(::sem_timedwait(&semaphore_, &end));
  }
  bool try_take() override { return ::sem_trywait(&semaphore_) == 0; }
  bool give() override { return ::sem_post(&semaphore_) == 0; }

 private:
  sem_t semaphore_ = {};
};

class Futex final : public WakeSource {
 public:
  [[nodiscard]] bool has_limits() const override { return true; }
  [[nodiscard]] bool ends_threads() const override { return false; }
  [[nodiscard]] bool ends_coroutines() const override { return false; }
  int take(Limit limit) override {
    const timespec span = limit ? timespec_of(*limit) : timespec();
    while (!try_take()) {
      const long code =
          ::syscall(SYS_futex, &count_, FUTEX_WAIT_PRIVATE, 0, limit ? &span : nullptr, nullptr, 0);
      if (code != 0 && errno != EAGAIN) return errno;
    }
    return 0;
  }
  bool try_take() override {
    if (count_ == 0) return false;
    --count_;
    return true;
  }
  bool give() override {
    ++count_;
    ::syscall(SYS_futex, &count_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    return true;
  }

 private:
  std::uint32_t count_ = 0;
};

/// A signal that nobody handles. It is there once at most.
class AwaitedSignal final : public WakeSource {
 public:
  AwaitedSignal() {
    sigemptyset(&set_);
    sigaddset(&set_, SIGUSR2);
    block();
  }
  void prepare() override { block(); }
  [[nodiscard]] bool has_limits() const override { return true; }
  [[nodiscard]] bool may_be_taken() const override { return true; }
  int take(Limit limit) override {
    const timespec span = limit ? timespec_of(*limit) : timespec();
    if (::sigtimedwait(&set_, nullptr, limit ? &span : nullptr) == SIGUSR2) return 0;
    return errno == EAGAIN ? ETIMEDOUT : errno;
  }
  bool try_take() override {
    const timespec none = {};
    return ::sigtimedwait(&set_, nullptr, &none) == SIGUSR2;
  }
  bool give() override {
    sigset_t pending;
    ::sigpending(&pending);
    return sigismember(&pending, SIGUSR2) == 0 && ::kill(::getpid(), SIGUSR2) == 0;
  }

 private:
  void block() { ::pthread_sigmask(SIG_BLOCK, &set_, nullptr); }

  sigset_t set_ = {};
};

/// A lock of a file. Whoever has taken it keeps it, until it is given on.
class FileLock final : public WakeSource {
 public:
  FileLock() : holder_(open()) { ::flock(holder_, LOCK_EX); }
  [[nodiscard]] bool ends_threads() const override { return false; }
  int take(Limit) override { return lock(LOCK_EX); }
  bool try_take() override { return lock(LOCK_EX | LOCK_NB) == 0; }
  bool give() override {
    if (holder_ < 0) return false;
    const int holder = holder_;
    holder_ = -1;
    return ::flock(holder, LOCK_UN) == 0;
  }

 private:
  [[nodiscard]] static int open() { return ::open("lock", O_RDWR | O_CREAT, 0600); }
  int lock(int how) {
    const int file = open();
    if (file < 0 || ::flock(file, how) != 0) return errno;
    holder_ = file;
    return 0;
  }

  int holder_;
};

/// A mutex. Whoever has taken it keeps it, until somebody else gives it on.
class Mutex final : public WakeSource {
 public:
  Mutex() { ::pthread_mutex_lock(&mutex_); }
  [[nodiscard]] bool has_limits() const override { return true; }
  [[nodiscard]] bool ends_threads() const override { return false; }
  [[nodiscard]] bool ends_coroutines() const override { return false; }
  int take(Limit limit) override {
    const timespec end = limit ? time_in(CLOCK_REALTIME, *limit) : timespec();
    const int code =
        limit ? ::pthread_mutex_timedlock(&mutex_, &end) : ::pthread_mutex_lock(&mutex_);
    if (code == 0) is_held_ = true;
    return code;
  }
  bool try_take() override {
    if (::pthread_mutex_trylock(&mutex_) != 0) return false;
    is_held_ = true;
    return true;
  }
  bool give() override {
    return std::exchange(is_held_, false) && ::pthread_mutex_unlock(&mutex_) == 0;
  }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  bool is_held_ = true;
};

class Sleep final : public WakeSource {
 public:
  [[nodiscard]] bool counts() const override { return false; }
  [[nodiscard]] bool has_limits() const override { return true; }
  int take(Limit limit) override {
    const timespec span = timespec_of(limit.value_or(std::chrono::milliseconds(2)));
    return error_of_call(::nanosleep(&span, nullptr));
  }
};

}  // namespace fermata::test
