// SPDX-License-Identifier: Apache-2.0
#include "fermata/poll/ppoll_backend.hpp"

#include <cerrno>
#include <utility>

#include "fermata/base/error.hpp"
#include "fermata/os/wait_limit.hpp"
#include "fermata/poll/native_mask.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::poll {

Capabilities PpollBackend::capabilities() const noexcept {
  return {.kinds = kAllKinds, .foreign_descriptors = true};
}

bool PpollBackend::holds(const Found& found) const noexcept {
  const Entry& entry = entries_[static_cast<std::size_t>(found.descriptor)];
  return entry.place != 0 && entry.generation == found.generation;
}

void PpollBackend::watch(int descriptor, PollMask mask) {
  const auto index = static_cast<std::size_t>(descriptor);
  if (index >= entries_.size()) entries_.resize(index + 1);
  const short events = detail::to_native(mask);
  if (const std::size_t place = entries_[index].place; place != 0) {
    watched_[place - 1].events = events;
  } else {
    watched_.push_back({descriptor, events, 0});
    entries_[index].place = watched_.size();
  }
}

void PpollBackend::unwatch(int descriptor) noexcept {
  const auto index = static_cast<std::size_t>(descriptor);
  if (index >= entries_.size() || entries_[index].place == 0) return;
  const std::size_t place = std::exchange(entries_[index].place, 0);
  ++entries_[index].generation;
  if (place != watched_.size()) {
    watched_[place - 1] = watched_.back();
    entries_[static_cast<std::size_t>(watched_.back().fd)].place = place;
  }
  watched_.pop_back();
}

void PpollBackend::wait(Instant wake_by, Sink& sink) {
  const os::WaitLimit limit(wake_by);
  int count = os::kernel.ppoll(watched_.data(), watched_.size(), limit.get(), nullptr);
  if (count < 0) {
    if (errno == EINTR) return;
    throw PollError("wait with ppoll", errno);
  }
  found_.clear();
  for (const pollfd& each : watched_) {
    if (count == 0) break;
    if (each.revents == 0) continue;
    found_.push_back({each.fd, detail::from_native(each.revents),
                      entries_[static_cast<std::size_t>(each.fd)].generation});
    --count;
  }
  for (const Found& each : found_) {
    if (holds(each)) sink.ready(each.descriptor, each.mask);
  }
}

}  // namespace fermata::poll
