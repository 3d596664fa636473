// SPDX-License-Identifier: Apache-2.0

// Readiness, and the descriptors that count and that tell the time.

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include "fermata/base/assert.hpp"
#include "fermata/posix/suspending/system_kernel.hpp"
#include "fermata/posix/suspending/system_transfer.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::posix {

int SystemKernel::poll(std::span<pollfd> asked, Limit limit) {
  const End end(limit);
  const auto look = [&] { return told(os::kernel.poll(asked.data(), asked.size(), 0)); };
  for (;;) {
    const int ready = look();
    if (ready != 0) return ready;
    if (limit == std::chrono::nanoseconds::zero()) {
      const int code = idle();
      return code != 0 ? code : look();
    }
    idle_calls_ = 0;
    const int waited = waiter_.wait(asked, end.rest());
    if (waited == -ETIMEDOUT) return look();
    if (waited != 0) return waited;
  }
}

int SystemKernel::epoll_create(int flags) { return told(os::kernel.epoll_create1(flags)); }

int SystemKernel::epoll_ctl(int epoll, int operation, int descriptor, const epoll_event* event) {
  return told(os::kernel.epoll_ctl(epoll, operation, descriptor, const_cast<epoll_event*>(event)));
}

int SystemKernel::epoll_wait(int epoll, std::span<epoll_event> room, Limit limit) {
  FERMATA_ASSERT(!room.empty());
  const End end(limit);
  const auto look = [&] {
    return told(os::kernel.epoll_wait(epoll, room.data(), static_cast<int>(room.size()), 0));
  };
  for (;;) {
    const int ready = look();
    if (ready != 0) return ready;
    if (limit == std::chrono::nanoseconds::zero()) {
      const int code = idle();
      return code != 0 ? code : look();
    }
    idle_calls_ = 0;
    const pollfd asked = {epoll, POLLIN, 0};
    const int waited = waiter_.wait({&asked, 1}, end.rest());
    if (waited == -ETIMEDOUT) return look();
    if (waited != 0) return waited;
  }
}

int SystemKernel::eventfd(unsigned count, int flags) {
  const int made = told(os::kernel.eventfd(count, flags | EFD_NONBLOCK));
  return disguised(made, (flags & EFD_NONBLOCK) == 0);
}

int SystemKernel::timerfd_create(clockid_t clock, int flags) {
  const int made = told(os::kernel.timerfd_create(clock, flags | TFD_NONBLOCK));
  return disguised(made, (flags & TFD_NONBLOCK) == 0);
}

int SystemKernel::timerfd_settime(int descriptor, int flags, const itimerspec& setting,
                                  itimerspec* before) {
  return told(os::kernel.timerfd_settime(descriptor, flags, &setting, before));
}

int SystemKernel::timerfd_gettime(int descriptor, itimerspec& left) {
  return told(os::kernel.timerfd_gettime(descriptor, &left));
}

}  // namespace fermata::posix
