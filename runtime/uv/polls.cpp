// SPDX-License-Identifier: Apache-2.0
#include "fermata/runtime/uv/polls.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "fermata/runtime/base/error.hpp"

namespace fermata::uv::detail {

namespace {

constexpr int kEventsPerCall = 64;
constexpr std::size_t kChecksPerTurn = 8;
constexpr Duration kCheckInterval = std::chrono::seconds(1);
constexpr Duration kCheckIntervalOfMany = std::chrono::milliseconds(100);

std::uint32_t to_native(PollMask mask) {
  std::uint32_t events = 0;
  if (any(mask & PollMask::Readable)) events |= EPOLLIN;
  if (any(mask & PollMask::Writable)) events |= EPOLLOUT;
  if (any(mask & PollMask::Disconnect)) events |= EPOLLRDHUP;
  if (any(mask & PollMask::Prioritized)) events |= EPOLLPRI;
  return events;
}

PollMask from_native(std::uint32_t events) {
  PollMask mask = PollMask::None;
  if ((events & EPOLLIN) != 0) mask |= PollMask::Readable;
  if ((events & EPOLLOUT) != 0) mask |= PollMask::Writable;
  if ((events & EPOLLPRI) != 0) mask |= PollMask::Prioritized;
  if ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) mask |= PollMask::Disconnect;
  return mask;
}

/// A socket may be reported readable and have nothing, for instance after a bad checksum.
bool has_something_to_read(int socket) {
  char byte = 0;
  const ssize_t size = ::recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return size >= 0 || errno != EAGAIN;
}

}  // namespace

// --- DescriptorPoll ---

DescriptorPoll::DescriptorPoll(Polls& polls, int descriptor)
    : Poll(polls, descriptor), polls_(polls) {
  struct stat status = {};
  if (::fstat(descriptor, &status) != 0) {
    throw PollError(fmt::format("watch descriptor {}", descriptor), errno);
  }
  if (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) {
    throw PollError(
        fmt::format("watch descriptor {}: expected a socket, a pipe or a device, got a {}",
                    descriptor, S_ISREG(status.st_mode) ? "regular file" : "directory"));
  }
  file_ = {status.st_dev, status.st_ino};
  socket_ = S_ISSOCK(status.st_mode);
}

bool DescriptorPoll::same_file() const noexcept {
  struct stat status = {};
  return ::fstat(descriptor(), &status) == 0 && file_ == FileIdentity{status.st_dev, status.st_ino};
}

void DescriptorPoll::arm_mask(PollMask mask) {
  if (!same_file()) {
    throw PollError(fmt::format("watch descriptor {}: it was closed", descriptor()), EBADF);
  }
  polls_.watch(*this, to_native(mask));
}

void DescriptorPoll::disarm_mask() noexcept { polls_.unwatch(*this); }

void DescriptorPoll::close_backend() noexcept {
  if (closes_descriptor()) ::close(descriptor());
  close_acknowledged();
}

void DescriptorPoll::dispatch(std::uint32_t events) {
  const PollMask mask = from_native(events);
  const bool spurious =
      mask == PollMask::Readable && socket_ && !has_something_to_read(descriptor());
  if (!spurious) ready(mask);
}

// --- Polls ---

Polls::Polls(Loop& loop)
    : fermata::Polls(loop.attachment()), loop_(loop), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (epoll_ < 0) throw InputOutputError("create an epoll", errno);
  watch_ = new uv_poll_t;
  uv_poll_init(loop.get(), watch_, epoll_);
  watch_->data = this;
  start_watch();
}

Polls::~Polls() {
  uv_close(reinterpret_cast<uv_handle_t*>(watch_),
           [](uv_handle_t* handle) noexcept { delete reinterpret_cast<uv_poll_t*>(handle); });
  ::close(epoll_);
}

void Polls::start_watch() {
  uv_poll_start(watch_, UV_READABLE, [](uv_poll_t* watch, int, int) noexcept {
    auto& polls = *static_cast<Polls*>(watch->data);
    polls.loop_.begin_callback();
    polls.collect();
  });
}

Ref<Poll> Polls::make(int descriptor) {
  return Ref<Poll>::adopt(*new DescriptorPoll(*this, descriptor));
}

void Polls::watch(DescriptorPoll& poll, std::uint32_t events) {
  const bool known = poll.id_ != 0;
  epoll_event event = {};
  event.events = events;
  event.data.u64 = known ? poll.id_ : next_id_;
  const int operation = known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  if (::epoll_ctl(epoll_, operation, poll.descriptor(), &event) != 0) {
    throw PollError(fmt::format("watch descriptor {}", poll.descriptor()), errno);
  }
  if (known) return;
  poll.id_ = next_id_++;
  armed_.emplace(poll.id_, &poll);
}

void Polls::unwatch(DescriptorPoll& poll) noexcept {
  const bool deleted =
      poll.same_file() && ::epoll_ctl(epoll_, EPOLL_CTL_DEL, poll.descriptor(), nullptr) == 0;
  if (!deleted) stale_ = true;
  armed_.erase(std::exchange(poll.id_, 0));
}

void Polls::collect() noexcept {
  std::array<epoll_event, kEventsPerCall> events;
  const int count = ::epoll_wait(epoll_, events.data(), kEventsPerCall, 0);
  bool strangers = false;
  for (int i = 0; i < count; ++i) {
    if (Reorder* const reorder = loop_.reorder()) {  // One that is passed over is told again.
      const auto others = static_cast<std::uint64_t>(count - i);
      std::swap(events[static_cast<std::size_t>(i)],
                events[static_cast<std::size_t>(i) + reorder->draw(others)]);
      if (reorder->passes_over()) continue;
    }
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    const std::uint64_t id = event.data.u64;  // A copy: the structure is packed.
    const auto found = armed_.find(id);
    if (found == armed_.end()) {
      strangers = true;
    } else {
      found->second->dispatch(event.events);
    }
  }
  if (strangers && stale_) rebuild();
}

void Polls::rebuild() noexcept {
  const int fresh = ::epoll_create1(EPOLL_CLOEXEC);
  if (fresh < 0) return;  // The next stranger tries again.
  uv_poll_stop(watch_);
  ::dup3(fresh, epoll_, O_CLOEXEC);
  ::close(fresh);
  start_watch();
  stale_ = false;
  for (auto& [id, poll] : armed_) {
    epoll_event event = {};
    event.events = to_native(poll->armed());
    event.data.u64 = id;
    // One that fails was closed behind our back; check_some() finds it.
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, poll->descriptor(), &event);
  }
}

Instant Polls::check_some(Instant wake_by) {
  if (armed_.empty()) return wake_by;
  const std::size_t count = std::min(kChecksPerTurn, armed_.size());
  for (std::size_t i = 0; i < count; ++i) {
    auto next = armed_.upper_bound(last_checked_);
    if (next == armed_.end()) next = armed_.begin();
    last_checked_ = next->first;
    DescriptorPoll& poll = *next->second;
    if (poll.same_file()) continue;
    loop_.begin_callback();
    poll.ready(PollMask::Disconnect);
    return Loop::now();
  }
  const bool all = count == armed_.size();
  return std::min(wake_by, Loop::now() + (all ? kCheckInterval : kCheckIntervalOfMany));
}

}  // namespace fermata::uv::detail
