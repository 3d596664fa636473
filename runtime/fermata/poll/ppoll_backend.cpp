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

bool PpollBackend::watches(int descriptor) const noexcept {
  const auto index = static_cast<std::size_t>(descriptor);
  return index < places_.size() && places_[index] != 0;
}

void PpollBackend::watch(int descriptor, PollMask mask) {
  const auto index = static_cast<std::size_t>(descriptor);
  if (index >= places_.size()) places_.resize(index + 1);
  const short events = detail::to_native(mask);
  if (places_[index] != 0) {
    watched_[places_[index] - 1].events = events;
  } else {
    watched_.push_back({descriptor, events, 0});
    places_[index] = watched_.size();
  }
}

void PpollBackend::unwatch(int descriptor) noexcept {
  if (!watches(descriptor)) return;
  const std::size_t place = std::exchange(places_[static_cast<std::size_t>(descriptor)], 0);
  if (place != watched_.size()) {
    watched_[place - 1] = watched_.back();
    places_[static_cast<std::size_t>(watched_.back().fd)] = place;
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
    found_.push_back(each);
    --count;
  }
  for (const pollfd& each : found_) {
    if (watches(each.fd)) sink.ready(each.fd, detail::from_native(each.revents));
  }
}

}  // namespace fermata::poll
