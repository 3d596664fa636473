// SPDX-License-Identifier: Apache-2.0
#include "fermata/os/epoll_set.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/os/wait_limit.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::os {

namespace {

std::uint32_t to_native(PollMask mask) {
  std::uint32_t events = 0;
  if (any(mask & PollMask::Readable)) events |= EPOLLIN;
  if (any(mask & PollMask::Writable)) events |= EPOLLOUT;
  if (any(mask & PollMask::Disconnect)) events |= EPOLLRDHUP;
  if (any(mask & PollMask::Prioritized)) events |= EPOLLPRI;
  return events;
}

PollMask mask_of(std::uint32_t events) {
  PollMask mask = PollMask::None;
  if ((events & EPOLLIN) != 0) mask |= PollMask::Readable;
  if ((events & EPOLLOUT) != 0) mask |= PollMask::Writable;
  if ((events & EPOLLPRI) != 0) mask |= PollMask::Prioritized;
  if ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) mask |= PollMask::Disconnect;
  return mask;
}

/// Milliseconds, rounded up, as epoll_wait takes them.
int to_milliseconds(std::int64_t nanoseconds) {
  constexpr std::int64_t kUnit = 1'000'000;
  const std::int64_t rounded = nanoseconds / kUnit + (nanoseconds % kUnit != 0 ? 1 : 0);
  return static_cast<int>(std::min<std::int64_t>(rounded, std::numeric_limits<int>::max()));
}

}  // namespace

EpollSet::EpollSet() : epoll_(kernel.epoll_create1(EPOLL_CLOEXEC)) {
  if (epoll_ < 0) throw InputOutputError("create an epoll", errno);
}

EpollSet::~EpollSet() { kernel.close(epoll_); }

int EpollSet::control(int operation, int descriptor) noexcept {
  FERMATA_ASSERT(static_cast<std::size_t>(descriptor) < entries_.size());
  const Entry& entry = entries_[static_cast<std::size_t>(descriptor)];
  epoll_event event = {};
  event.events = to_native(entry.mask);
  event.data.u64 = std::uint64_t{entry.generation} << 32 | static_cast<std::uint32_t>(descriptor);
  return kernel.epoll_ctl(epoll_, operation, descriptor, &event) == 0 ? 0 : errno;
}

void EpollSet::watch(int descriptor, PollMask mask) {
  FERMATA_ASSERT(descriptor >= 0 && any(mask));
  const auto index = static_cast<std::size_t>(descriptor);
  if (index >= entries_.size()) entries_.resize(index + 1);
  Entry& entry = entries_[index];
  const bool known = any(std::exchange(entry.mask, mask)) || std::exchange(entry.rests, false);
  if (!known) ++entry.generation;
  int code = control(known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, descriptor);
  // The number meant another file when it was unwatched; now it means the one that is left there.
  if (code == EEXIST) code = control(EPOLL_CTL_MOD, descriptor);
  if (code != 0) {
    entry.mask = PollMask::None;
    stale_ = stale_ || known;
    throw PollError(fmt::format("watch descriptor {}", descriptor), code);
  }
}

void EpollSet::unwatch(int descriptor) noexcept {
  const auto index = static_cast<std::size_t>(descriptor);
  if (index >= entries_.size()) return;
  Entry& entry = entries_[index];
  if (!any(entry.mask) && !entry.rests) return;
  if (control(EPOLL_CTL_DEL, descriptor) != 0) stale_ = true;
  entry.mask = PollMask::None;
  entry.rests = false;
}

void EpollSet::rest(int descriptor) noexcept {
  const auto index = static_cast<std::size_t>(descriptor);
  if (index >= entries_.size() || !any(entries_[index].mask)) return;
  entries_[index].mask = PollMask::None;
  entries_[index].rests = true;
}

bool EpollSet::resume(int descriptor, PollMask mask) noexcept {
  const auto index = static_cast<std::size_t>(descriptor);
  if (index >= entries_.size() || !entries_[index].rests) return false;
  Entry& entry = entries_[index];
  entry.rests = false;
  entry.mask = mask;
  ++entry.generation;
  if (control(EPOLL_CTL_MOD, descriptor) == 0) return true;
  entry.mask = PollMask::None;
  stale_ = true;
  return false;
}

int EpollSet::wait(std::span<epoll_event> events, Instant wake_by) noexcept {
  const auto room = static_cast<int>(events.size());
  if (wake_by == Instant::never()) return kernel.epoll_wait(epoll_, events.data(), room, -1);
  const std::int64_t left = nanoseconds_until(wake_by);
  if (left > 0 && waits_for_nanoseconds_) {
    const timespec limit = to_timespec(left);
    const int count = kernel.epoll_pwait2(epoll_, events.data(), room, &limit, nullptr);
    if (count >= 0 || errno != ENOSYS) return count;
    waits_for_nanoseconds_ = false;
  }
  return kernel.epoll_wait(epoll_, events.data(), room, to_milliseconds(left));
}

EpollSet::Look EpollSet::look(Instant wake_by) noexcept {
  std::array<epoll_event, kEventsPerLook> events;
  const int count = wait(events, wake_by);
  if (count < 0) return {{}, errno == EINTR ? 0 : errno};
  std::size_t known = 0;
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    const std::uint64_t data = event.data.u64;  // A copy: the structure is packed.
    const Found found{static_cast<int>(data & 0xffff'ffff), mask_of(event.events),
                      static_cast<std::uint32_t>(data >> 32)};
    const Entry& entry = entries_[static_cast<std::size_t>(found.descriptor)];
    if (holds(found)) {
      found_[known++] = found;
    } else if (entry.rests && entry.generation == found.generation) {
      unwatch(found.descriptor);
    } else {
      strangers_ = stale_;
    }
  }
  return {std::span(found_).first(known)};
}

bool EpollSet::holds(const Found& found) const noexcept {
  FERMATA_ASSERT(static_cast<std::size_t>(found.descriptor) < entries_.size());
  const Entry& entry = entries_[static_cast<std::size_t>(found.descriptor)];
  return any(entry.mask) && entry.generation == found.generation;
}

void EpollSet::rebuild() noexcept {
  const int fresh = kernel.epoll_create1(EPOLL_CLOEXEC);
  if (fresh < 0) return;  // It is tried again.
  const bool replaced = kernel.dup3(fresh, epoll_, O_CLOEXEC) == epoll_;
  kernel.close(fresh);
  if (!replaced) return;
  stale_ = strangers_ = false;
  for (std::size_t index = 0; index < entries_.size(); ++index) {
    entries_[index].rests = false;
    if (!any(entries_[index].mask)) continue;
    // One that fails was closed behind our back; whoever watches it finds that.
    (void)control(EPOLL_CTL_ADD, static_cast<int>(index));
  }
}

}  // namespace fermata::os
