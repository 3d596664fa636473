// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a simulated process may set and read back. It begins with what Linux gives a process.

#include <sys/resource.h>
#include <syslog.h>

#include <array>
#include <cstddef>

#include "fermata/base/assert.hpp"

namespace fermata::posix {

/// What setrlimit() keeps, by RLIMIT_...
class ResourceLimits {
 public:
  static constexpr rlim_t kMostDescriptors = 1024;
  static constexpr rlim_t kStackBytes = 8UL << 20;

  constexpr ResourceLimits() noexcept {
    all_.fill({RLIM_INFINITY, RLIM_INFINITY});
    all_[RLIMIT_NOFILE] = {kMostDescriptors, kMostDescriptors};
    all_[RLIMIT_STACK].rlim_cur = kStackBytes;
  }

  [[nodiscard]] rlimit& operator[](std::size_t resource) noexcept {
    FERMATA_ASSERT(resource < all_.size());
    return all_[resource];
  }

 private:
  std::array<rlimit, RLIM_NLIMITS> all_;
};

/// What openlog() and setlogmask() keep.
struct SystemLog {
  const char* name = nullptr;  // The program's own text.
  int options = 0;
  int facility = LOG_USER;
  int mask = 0xff;
};

struct ProcessState {
  ResourceLimits limits;
  SystemLog log;
};

}  // namespace fermata::posix
