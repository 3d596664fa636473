// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/eventfd.h>

#include <cerrno>
#include <cstdint>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::os {

/// What other threads and signal handlers end a wait with: a descriptor that becomes readable.
class WakeUp {
 public:
  /// Throws InputOutputError.
  WakeUp() : descriptor_(kernel.eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    if (descriptor_ < 0) throw InputOutputError("create an event descriptor", errno);
  }
  WakeUp(const WakeUp&) = delete;
  WakeUp& operator=(const WakeUp&) = delete;
  ~WakeUp() { kernel.close(descriptor_); }

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

  /// From any thread, and from signal handlers.
  void wake() const noexcept {
    FERMATA_ASSERT(descriptor_ >= 0);
    const int code = errno;  // It may be a signal handler that calls.
    const std::uint64_t once = 1;
    [[maybe_unused]] const ssize_t size = kernel.write(descriptor_, &once, sizeof once);
    errno = code;
  }

  /// The wait has ended: the descriptor is not readable any more.
  void acknowledge() const noexcept {
    FERMATA_ASSERT(descriptor_ >= 0);
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t size = kernel.read(descriptor_, &count, sizeof count);
  }

 private:
  int descriptor_;
};

}  // namespace fermata::os
