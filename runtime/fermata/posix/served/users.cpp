// SPDX-License-Identifier: Apache-2.0

// Who the process belongs to: root, whoever runs the test. Libraries do more for files of root.

#include <unistd.h>

#include "fermata/posix/served/served_file.hpp"

#define FERMATA_ROOT(result, name)                                                              \
  result name() noexcept {                                                                      \
    const bool is_served = ::fermata::posix::files_for(__builtin_return_address(0)) != nullptr; \
    return is_served ? 0 : FERMATA_REAL(name)();                                                \
  }

extern "C" {

FERMATA_ROOT(uid_t, getuid)
FERMATA_ROOT(uid_t, geteuid)
FERMATA_ROOT(gid_t, getgid)
FERMATA_ROOT(gid_t, getegid)

}  // extern "C"
