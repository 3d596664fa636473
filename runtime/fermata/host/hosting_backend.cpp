// SPDX-License-Identifier: Apache-2.0
#include "fermata/host/hosting_backend.hpp"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/os/clock.hpp"

namespace fermata::host::detail {

namespace {

/// The deadline of a look that does not wait.
constexpr Instant kPast{};

int add_readable(int epoll, int descriptor) noexcept {
  epoll_event event = {};
  event.events = EPOLLIN;
  return ::epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
}

}  // namespace

HostingBackend::HostingBackend(std::string_view name, Gate& gate)
    : name_(name),
      gate_(gate),
      outer_(::epoll_create1(EPOLL_CLOEXEC)),
      timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)) {
  const bool made = outer_ >= 0 && timer_ >= 0 && add_readable(outer_, timer_) == 0 &&
                    add_readable(outer_, set_.descriptor()) == 0;
  if (made) return;
  const int code = errno;
  if (outer_ >= 0) ::close(outer_);
  if (timer_ >= 0) ::close(timer_);
  throw InputOutputError("create the descriptor that a host watches", code);
}

HostingBackend::~HostingBackend() {
  ::close(outer_);
  ::close(timer_);
}

void HostingBackend::fall_silent() noexcept {
  ::epoll_ctl(outer_, EPOLL_CTL_DEL, timer_, nullptr);
  ::epoll_ctl(outer_, EPOLL_CTL_DEL, set_.descriptor(), nullptr);
}

poll::Capabilities HostingBackend::capabilities() const noexcept {
  return {.kinds = PollMask::Readable | PollMask::Writable | PollMask::Disconnect |
                   PollMask::Prioritized,
          .hosted = true};
}

void HostingBackend::set_alarm(Instant at) noexcept {
  // One that is past has made the descriptor readable, which setting it ends.
  if (at == alarm_ && at > os::now()) return;
  alarm_ = at;
  itimerspec setting = {};
  if (at != Instant::never()) {
    setting.it_value = os::to_timespec(std::max<std::int64_t>(at.nanoseconds, 1));
  }
  const int code = ::timerfd_settime(timer_, TFD_TIMER_ABSTIME, &setting, nullptr);
  FERMATA_ASSERT(code == 0);
}

void HostingBackend::wait(Instant wake_by, poll::Sink& sink) {
  if (!hosted_) {
    static_cast<void>(tell(wake_by, sink));
    return;
  }
  const bool waits = wake_by > os::now();
  if (waits || !gate_.turn_is_over()) {
    if (tell(kPast, sink) || !waits) return;
  }
  set_alarm(waits ? wake_by : kPast);
  gate_.leave(waits);
  static_cast<void>(tell(kPast, sink));
}

// Whether anything was told.
bool HostingBackend::tell(Instant wake_by, poll::Sink& sink) {
  bool told = false;
  const os::EpollSet::Look look = set_.look(wake_by);
  if (look.code != 0) throw PollError("wait for descriptors", look.code);
  for (const os::EpollSet::Found& found : look.found) {
    if (!set_.holds(found)) continue;  // What was told before has ended it.
    sink.ready(found.descriptor, found.mask);
    told = true;
  }
  if (set_.must_be_rebuilt()) {
    set_.rebuild();
    static_cast<void>(add_readable(outer_, set_.descriptor()));
  }
  return told;
}

}  // namespace fermata::host::detail
