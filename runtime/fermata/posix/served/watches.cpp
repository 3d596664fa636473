// SPDX-License-Identifier: Apache-2.0

// Watches of files.

#include <sys/inotify.h>

#include "fermata/posix/served/served_file.hpp"

extern "C" {

FERMATA_FILE(int, inotify_init, (), (), noexcept, files->open_news(0))
FERMATA_FILE(int, inotify_init1, (int flags), (flags), noexcept, files->open_news(flags))
FERMATA_FILE(int, inotify_add_watch, (int news, const char* path, std::uint32_t mask),
             (news, path, mask), noexcept, files->watch(news, path, mask))
FERMATA_FILE(int, inotify_rm_watch, (int news, int watch), (news, watch), noexcept,
             files->unwatch(news, watch))

}  // extern "C"
