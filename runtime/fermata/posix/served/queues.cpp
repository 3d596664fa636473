// SPDX-License-Identifier: Apache-2.0

// Calls on files that are carried out while whoever made them goes on. The C library has no
// functions for them: libaio and others call syscall().

#include "fermata/posix/served/queues.hpp"

#include <linux/aio_abi.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <ctime>

#include "fermata/base/assert.hpp"
#include "fermata/posix/files.hpp"
#include "fermata/posix/served/limit.hpp"
#include "fermata/posix/served/real.hpp"

namespace fermata::posix {

namespace {

using Arguments = std::array<long, 6>;

/// One that is over already means not to wait.
Limit limit_in(const timespec* time) noexcept {
  if (time == nullptr) return std::nullopt;
  const Limit limit = limit_of(time);
  return limit ? std::max(*limit, Limit::value_type::zero()) : limit;
}

long results(Files& files, const Arguments& given) {
  const auto most = given[2];
  auto* const room = reinterpret_cast<io_event*>(given[3]);
  const auto* const time = reinterpret_cast<const timespec*>(given[4]);
  if (most < 0) return -EINVAL;
  if (room == nullptr && most > 0) return -EFAULT;
  return files.results(static_cast<aio_context_t>(given[0]), given[1],
                       {room, static_cast<std::size_t>(most)}, limit_in(time));
}

long submit(Files& files, const Arguments& given) {
  const auto count = given[1];
  if (count < 0) return -EINVAL;
  return files.submit(static_cast<aio_context_t>(given[0]),
                      {reinterpret_cast<iocb* const*>(given[2]), static_cast<std::size_t>(count)});
}

}  // namespace

std::optional<long> serve_queue_call(long number, const Arguments& given, const void* from) {
  Files* const files = files_for(from);
  if (files == nullptr) return std::nullopt;
  const auto queue = static_cast<aio_context_t>(given[0]);
  FERMATA_ASSERT(from != nullptr);
  auto* const made = reinterpret_cast<aio_context_t*>(given[1]);
  switch (number) {
    case SYS_io_setup:
      if (made == nullptr) return -EFAULT;
      return files->open_queue(static_cast<unsigned>(given[0]), *made);
    case SYS_io_destroy:
      return files->close_queue(queue);
    case SYS_io_submit:
      return submit(*files, given);
    case SYS_io_cancel:
      return files->cancel(queue, reinterpret_cast<const iocb*>(given[1]));
    case SYS_io_getevents:
    case SYS_io_pgetevents:
      return results(*files, given);
    default:
      return std::nullopt;
  }
}

}  // namespace fermata::posix
