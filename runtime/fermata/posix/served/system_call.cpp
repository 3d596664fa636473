// SPDX-License-Identifier: Apache-2.0

// syscall(): the calls that libraries make by number, since the C library has no function for them
// or had none: futexes above all, which the C++ library waits by.

#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <span>

#include "fermata/base/assert.hpp"
#include "fermata/posix/served/limit.hpp"
#include "fermata/posix/served/queues.hpp"
#include "fermata/posix/served/threads_serving.hpp"
#include "fermata/posix/threads.hpp"

using fermata::posix::answer;
using fermata::posix::Deadline;
using fermata::posix::is_time;
using fermata::posix::Kernel;
using fermata::posix::kForever;
using fermata::posix::serving_machine;
using fermata::posix::Threads;
using fermata::posix::threads_for;
using fermata::posix::Until;

namespace {

using Arguments = std::array<long, 6>;

/// After so long, by the monotonic clock.
Deadline deadline_in(Kernel& kernel, const timespec& span) {
  constexpr long kBillion = 1'000'000'000;
  timespec end = {};
  static_cast<void>(kernel.clock_gettime(CLOCK_MONOTONIC, end));
  FERMATA_ASSERT(is_time(span));
  const long nanoseconds = end.tv_nsec + span.tv_nsec;
  end.tv_sec += span.tv_sec + nanoseconds / kBillion;
  end.tv_nsec = nanoseconds % kBillion;
  return {CLOCK_MONOTONIC, end};
}

/// The result is as the system's, a negative errno for an error.
long serve_futex(Kernel& kernel, Threads& threads, const Arguments& given) {
  FERMATA_ASSERT(kernel.threads() == &threads);
  const auto* const word = reinterpret_cast<const std::uint32_t*>(given[0]);
  const auto value = static_cast<std::uint32_t>(given[2]);
  const auto* const time = reinterpret_cast<const timespec*>(given[3]);
  const auto bits = static_cast<std::uint32_t>(given[5]);
  const clockid_t clock = (given[1] & FUTEX_CLOCK_REALTIME) != 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
  switch (given[1] & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
      if (time == nullptr) return -threads.wait(word, value, ~0u, {});
      if (!is_time(*time) || time->tv_sec < 0) return -EINVAL;
      if (time->tv_sec > kForever) return -threads.wait(word, value, ~0u, {});
      return -threads.wait(word, value, ~0u, deadline_in(kernel, *time));
    case FUTEX_WAIT_BITSET:
      if (bits == 0 || (time != nullptr && !is_time(*time))) return -EINVAL;
      return -threads.wait(word, value, bits, time == nullptr ? Until() : Deadline{clock, *time});
    case FUTEX_WAKE:
      return threads.wake(word, static_cast<int>(value), ~0u);
    case FUTEX_WAKE_BITSET:
      return bits == 0 ? -EINVAL : threads.wake(word, static_cast<int>(value), bits);
    default:
      return -ENOSYS;
  }
}

/// signalfd4(), which is told the size of a set as the system has it.
long call_signalfd(const Arguments& given, int flags) {
  constexpr std::size_t kSizeOfSet = 8;
  if (static_cast<std::size_t>(given[2]) != kSizeOfSet) return answer(-EINVAL);
  if (given[1] == 0) return answer(-EFAULT);
  sigset_t wanted = {};
  std::memcpy(&wanted, reinterpret_cast<const void*>(given[1]), kSizeOfSet);
  return ::signalfd(static_cast<int>(given[0]), &wanted, flags);
}

/// What the served function of the same name returns, with errno; nullopt when there is none here.
/// The functions themselves see whether anybody serves them.
std::optional<long> call_function(long number, const Arguments& given) {
  const int descriptor = static_cast<int>(given[0]);
  const auto* const pieces = reinterpret_cast<const iovec*>(given[1]);
  const int count = static_cast<int>(given[2]);
  auto* const messages = reinterpret_cast<mmsghdr*>(given[1]);
  const auto most = static_cast<unsigned>(given[2]);
  const int flags = static_cast<int>(given[3]);
  switch (number) {
    case SYS_close:
      return ::close(descriptor);
    case SYS_dup3:
      return ::dup3(descriptor, static_cast<int>(given[1]), count);
    case SYS_preadv:
      return ::preadv(descriptor, pieces, count, given[3]);
    case SYS_pwritev:
      return ::pwritev(descriptor, pieces, count, given[3]);
    case SYS_recvmmsg:
      return ::recvmmsg(descriptor, messages, most, flags, reinterpret_cast<timespec*>(given[4]));
    case SYS_sendmmsg:
      return ::sendmmsg(descriptor, messages, most, flags);
    case SYS_copy_file_range:
      return ::copy_file_range(descriptor, reinterpret_cast<off64_t*>(given[1]), count,
                               reinterpret_cast<off64_t*>(given[3]),
                               static_cast<std::size_t>(given[4]), static_cast<unsigned>(given[5]));
    case SYS_statx:
      return ::statx(descriptor, reinterpret_cast<const char*>(given[1]), count,
                     static_cast<unsigned>(given[3]), reinterpret_cast<struct statx*>(given[4]));
    case SYS_signalfd4:
    case SYS_signalfd:
      return call_signalfd(given, number == SYS_signalfd ? 0 : flags);
    default:
      return std::nullopt;
  }
}

/// Answers as the function does that makes the same call; what has none that is served is refused.
long serve(Kernel& kernel, long number, const Arguments& given, const void* from) {
  Threads* const threads = threads_for(from);
  switch (number) {
    case SYS_futex:
      if (threads != nullptr) return serve_futex(kernel, *threads, given);
      break;
    case SYS_gettid:
      if (threads != nullptr) return threads->number();
      break;
    case SYS_getrandom:
      kernel.fill_randomly(
          {reinterpret_cast<std::byte*>(given[0]), static_cast<std::size_t>(given[1])});
      return given[1];
    case SYS_clock_gettime:
      return kernel.clock_gettime(static_cast<clockid_t>(given[0]),
                                  *reinterpret_cast<timespec*>(given[1]));
    case SYS_sched_yield:
      kernel.yield();
      return 0;
    case SYS_io_uring_setup:
    case SYS_io_uring_enter:
    case SYS_io_uring_register:
      return -ENOSYS;
    default:
      break;
  }
  if (const auto result = fermata::posix::serve_queue_call(number, given, from)) return *result;
  std::array<char, 32> name;
  std::snprintf(name.data(), name.size(), "syscall number %ld", number);
  kernel.refuse(name.data(), from);
  return -ENOSYS;
}

/// While it lives the thread is not cancelled: the functions that make the same calls may be
/// cancellation points, and this one is none.
class Uncancelled {
 public:
  explicit Uncancelled(Threads* threads)
      : threads_(threads), before_(threads != nullptr && threads->let_cancel(false)) {}
  Uncancelled(const Uncancelled&) = delete;
  Uncancelled& operator=(const Uncancelled&) = delete;
  ~Uncancelled() {
    if (threads_ != nullptr) threads_->let_cancel(before_);
  }

 private:
  Threads* threads_;
  bool before_;
};

}  // namespace

// Also reads what the caller has not given.
extern "C" [[gnu::no_sanitize_address]] long syscall(long number, ...) noexcept {
  va_list list;
  va_start(list, number);
  Arguments given;
  for (long& each : given) each = va_arg(list, long);
  va_end(list);
  Kernel* const kernel = serving_machine();
  {
    const Uncancelled uncancelled(kernel == nullptr ? nullptr : kernel->threads());
    if (const std::optional<long> result = call_function(number, given)) return *result;
  }
  if (kernel == nullptr) {
    return FERMATA_REAL(syscall)(number, given[0], given[1], given[2], given[3], given[4],
                                 given[5]);
  }
  return answer(serve(*kernel, number, given, __builtin_return_address(0)));
}
