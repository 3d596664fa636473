// SPDX-License-Identifier: Apache-2.0

// How files are watched.

#include <sys/inotify.h>

#include <cerrno>
#include <memory>

#include "fermata/base/assert.hpp"
#include "fermata/sim/posix/file_news.hpp"
#include "fermata/sim/posix/kernel_files.hpp"

namespace fermata::sim::detail {

namespace {

constexpr std::uint32_t kFlags = IN_ONLYDIR | IN_DONT_FOLLOW | IN_EXCL_UNLINK | IN_MASK_CREATE |
                                 IN_MASK_ADD | IN_ISDIR | IN_ONESHOT;

bool is_mask(std::uint32_t mask) noexcept {
  constexpr std::uint32_t kEither = IN_MASK_ADD | IN_MASK_CREATE;
  constexpr std::uint32_t kTold = IN_UNMOUNT | IN_Q_OVERFLOW | IN_IGNORED;
  const bool is_known = (mask & ~(IN_ALL_EVENTS | kTold | kFlags)) == 0;
  return mask != 0 && is_known && (mask & kEither) != kEither;
}

}  // namespace

int SimKernelFiles::open_news(int flags) {
  static_assert(int{IN_NONBLOCK} == int{SOCK_NONBLOCK} && int{IN_CLOEXEC} == int{SOCK_CLOEXEC});
  if (const int code = kernel_.enter("inotify_init1")) return code;
  if ((flags & ~(IN_NONBLOCK | IN_CLOEXEC)) != 0) return -EINVAL;
  if (kernel_.table_.is_full("inotify")) return -EMFILE;
  return kernel_.open(std::make_shared<FileNews>(machine_, kernel_.table_.next_serial(), disk_),
                      flags);
}

int SimKernelFiles::watch(int news, const char* path, std::uint32_t mask) {
  if (const int code = kernel_.enter("inotify_add_watch")) return code;
  if (!is_mask(mask)) return -EINVAL;
  Description* const found = kernel_.table_.use(news);
  if (found == nullptr) return -EBADF;
  auto* const opened = dynamic_cast<FileNews*>(found);
  if (opened == nullptr) return -EINVAL;
  Place place;
  if (const int code = locate(posix::at(path), place)) return code;
  FERMATA_ASSERT(place.file == nullptr);
  return opened->watch(place.where(), mask);
}

int SimKernelFiles::unwatch(int news, int watch) {
  if (const int code = kernel_.enter("inotify_rm_watch")) return code;
  Description* const found = kernel_.table_.use(news);
  if (found == nullptr) return -EBADF;
  auto* const opened = dynamic_cast<FileNews*>(found);
  return opened == nullptr ? -EINVAL : opened->unwatch(watch);
}

}  // namespace fermata::sim::detail
