// SPDX-License-Identifier: Apache-2.0

// Reading, writing and managing descriptors.

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdarg>
#include <cstdint>

#include "fermata/base/assert.hpp"
#include "fermata/posix/kernel.hpp"
#include "fermata/posix/served/real.hpp"

using fermata::posix::answer;
using fermata::posix::Kernel;
using fermata::posix::managing;
using fermata::posix::serving;
using fermata::posix::serving_for;

namespace {

bool is_valid_count(int count) noexcept { return count >= 0 && count <= IOV_MAX; }

/// A descriptor that cannot be read or written, which `transferred` tells, is refused before that.
ssize_t refuse_count(ssize_t transferred) noexcept {
  return answer(transferred < 0 ? transferred : -EINVAL);
}

Kernel* managing_both(int descriptor, int target) noexcept {
  Kernel* const kernel = managing(descriptor);
  return kernel != nullptr ? kernel : managing(target);
}

// --- calls that are made often, when they may be served ---

[[gnu::noinline]] ssize_t serve_read(const void* from, int descriptor, void* buffer, size_t size) {
  FERMATA_ASSERT(from != nullptr);
  Kernel* const kernel = serving_for(from, descriptor);
  if (kernel == nullptr) return FERMATA_REAL(read)(descriptor, buffer, size);
  const iovec target = {buffer, size};
  return answer(kernel->read(descriptor, {&target, 1}));
}

[[gnu::noinline]] ssize_t serve_readv(const void* from, int descriptor, const iovec* target,
                                      int count) {
  FERMATA_ASSERT(from != nullptr);
  Kernel* const kernel = serving_for(from, descriptor);
  if (kernel == nullptr) return FERMATA_REAL(readv)(descriptor, target, count);
  if (!is_valid_count(count)) return refuse_count(kernel->read(descriptor, {}));
  return answer(kernel->read(descriptor, {target, static_cast<size_t>(count)}));
}

[[gnu::noinline]] ssize_t serve_write(const void* from, int descriptor, const void* data,
                                      size_t size) {
  FERMATA_ASSERT(from != nullptr);
  Kernel* const kernel = serving_for(from, descriptor);
  if (kernel == nullptr) return FERMATA_REAL(write)(descriptor, data, size);
  const iovec source = {const_cast<void*>(data), size};
  return answer(kernel->write(descriptor, {&source, 1}));
}

[[gnu::noinline]] ssize_t serve_writev(const void* from, int descriptor, const iovec* source,
                                       int count) {
  FERMATA_ASSERT(from != nullptr);
  Kernel* const kernel = serving_for(from, descriptor);
  if (kernel == nullptr) return FERMATA_REAL(writev)(descriptor, source, count);
  if (!is_valid_count(count)) return refuse_count(kernel->write(descriptor, {}));
  return answer(kernel->write(descriptor, {source, static_cast<size_t>(count)}));
}

}  // namespace

extern "C" {

// With UBSan: whether memory can be read, which it tries out with a pipe.
[[gnu::weak]] bool _ZN11__sanitizer23IsAccessibleMemoryRangeEmm(unsigned long, unsigned long);

// Spellings that headers do not declare.
ssize_t __read_chk(int descriptor, void* buffer, size_t size, size_t room);
int fcntl64(int descriptor, int command, ...);

ssize_t read(int descriptor, void* buffer, size_t size) {
  FERMATA_PASS_ON(read, descriptor, buffer, size)
  return serve_read(__builtin_return_address(0), descriptor, buffer, size);
}

ssize_t __read_chk(int descriptor, void* buffer, size_t size, size_t room) {
  if (serving_for(__builtin_return_address(0), descriptor) == nullptr) {
    return FERMATA_REAL(__read_chk)(descriptor, buffer, size, room);
  }
  return size <= room ? read(descriptor, buffer, size)
                      : FERMATA_REAL(__read_chk)(-1, buffer, size, room);  // Ends the program.
}

ssize_t readv(int descriptor, const iovec* target, int count) {
  FERMATA_PASS_ON(readv, descriptor, target, count)
  return serve_readv(__builtin_return_address(0), descriptor, target, count);
}

ssize_t write(int descriptor, const void* data, size_t size) {
  FERMATA_PASS_ON(write, descriptor, data, size)
  return serve_write(__builtin_return_address(0), descriptor, data, size);
}

ssize_t writev(int descriptor, const iovec* source, int count) {
  FERMATA_PASS_ON(writev, descriptor, source, count)
  return serve_writev(__builtin_return_address(0), descriptor, source, count);
}

int close(int descriptor) {
  Kernel* const kernel = managing(descriptor);
  return kernel == nullptr ? FERMATA_REAL(close)(descriptor) : answer(kernel->close(descriptor));
}

namespace {

int close_all(Kernel& kernel, unsigned first, unsigned last, unsigned flags) {
  constexpr unsigned kMost = 1024;
  constexpr unsigned kKnown = CLOSE_RANGE_UNSHARE | CLOSE_RANGE_CLOEXEC;
  if ((flags & ~kKnown) != 0 || first > last) return -EINVAL;
  for (unsigned each = first; each <= last && each < kMost; ++each) {
    const auto descriptor = static_cast<int>(each);
    static_cast<void>((flags & CLOSE_RANGE_CLOEXEC) != 0
                          ? kernel.fcntl(descriptor, F_SETFD, FD_CLOEXEC)
                          : kernel.close(descriptor));
  }
  return 0;
}

}  // namespace

int close_range(unsigned first, unsigned last, int flags) noexcept {
  Kernel* const kernel = serving;
  return kernel == nullptr ? FERMATA_REAL(close_range)(first, last, flags)
                           : answer(close_all(*kernel, first, last, static_cast<unsigned>(flags)));
}

void closefrom(int first) noexcept {
  Kernel* const kernel = serving;
  if (kernel == nullptr) return FERMATA_REAL(closefrom)(first);
  static_cast<void>(close_all(*kernel, static_cast<unsigned>(std::max(first, 0)), ~0u, 0));
}

// Every argument of fcntl() and ioctl() is a number or a pointer, and so is read as one.

int fcntl(int descriptor, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  Kernel* const kernel = managing(descriptor);
  if (kernel == nullptr) return FERMATA_REAL(fcntl)(descriptor, command, argument);
  return answer(kernel->fcntl(descriptor, command, reinterpret_cast<std::intptr_t>(argument)));
}

int fcntl64(int descriptor, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  return fcntl(descriptor, command, argument);
}

int ioctl(int descriptor, unsigned long request, ...) noexcept {
  va_list arguments;
  va_start(arguments, request);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  Kernel* const kernel =
      serving != nullptr ? serving_for(__builtin_return_address(0)) : managing(descriptor);
  if (kernel == nullptr) return FERMATA_REAL(ioctl)(descriptor, request, argument);
  return answer(kernel->ioctl(descriptor, request, argument));
}

int dup(int descriptor) noexcept {
  Kernel* const kernel = managing(descriptor);
  if (kernel == nullptr) return FERMATA_REAL(dup)(descriptor);
  return answer(kernel->fcntl(descriptor, F_DUPFD, 0));
}

// A descriptor that is its own target only has to be open; dup3() refuses that.
int dup2(int descriptor, int target) noexcept {
  Kernel* const kernel = managing_both(descriptor, target);
  if (kernel == nullptr) return FERMATA_REAL(dup2)(descriptor, target);
  if (descriptor != target) return answer(kernel->duplicate_to(descriptor, target, 0));
  const int open = answer(kernel->fcntl(descriptor, F_GETFD, 0));
  return open < 0 ? open : target;
}

int dup3(int descriptor, int target, int flags) noexcept {
  Kernel* const kernel = managing_both(descriptor, target);
  if (kernel == nullptr) return FERMATA_REAL(dup3)(descriptor, target, flags);
  if (descriptor == target) return answer(-EINVAL);
  return answer(kernel->duplicate_to(descriptor, target, flags));
}

namespace {

bool is_sanitizer(const void* caller) noexcept {
  constexpr std::uintptr_t kLongest = 1024;
  const auto begin = reinterpret_cast<std::uintptr_t>(_ZN11__sanitizer23IsAccessibleMemoryRangeEmm);
  const auto at = reinterpret_cast<std::uintptr_t>(caller);
  return begin != 0 && at >= begin && at < begin + kLongest;
}

}  // namespace

int pipe2(int* ends, int flags) noexcept {
  Kernel* const kernel = serving;
  if (kernel == nullptr) return FERMATA_REAL(pipe2)(ends, flags);
  std::array<int, 2> opened{};
  const int result = kernel->pipe(opened, flags);
  if (result < 0) return answer(result);
  ends[0] = opened[0];
  ends[1] = opened[1];
  return 0;
}

int pipe(int* ends) noexcept {
  const bool is_served = serving != nullptr && !is_sanitizer(__builtin_return_address(0));
  return is_served ? pipe2(ends, 0) : FERMATA_REAL(pipe)(ends);
}

}  // extern "C"
