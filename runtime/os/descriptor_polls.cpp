// SPDX-License-Identifier: Apache-2.0
#include "fermata/runtime/os/descriptor_polls.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "fermata/runtime/base/error.hpp"
#include "fermata/runtime/os/clock.hpp"

namespace fermata::os {

namespace {

constexpr std::size_t kChecksPerTurn = 8;
constexpr Duration kCheckInterval = std::chrono::seconds(1);
constexpr Duration kCheckIntervalOfMany = std::chrono::milliseconds(100);

/// A socket may be reported readable and have nothing, for instance after a bad checksum.
bool has_something_to_read(int socket) {
  char byte = 0;
  const ssize_t size = ::recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return size >= 0 || errno != EAGAIN;
}

}  // namespace

// --- DescriptorPoll ---

DescriptorPoll::DescriptorPoll(DescriptorPolls& polls, int descriptor)
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
  watch(mask);
  polls_.armed_.insert_or_assign(descriptor(), this);
}

void DescriptorPoll::disarm_mask() noexcept {
  unwatch();
  polls_.armed_.erase(descriptor());
}

void DescriptorPoll::close_backend() noexcept {
  if (closes_descriptor()) ::close(descriptor());
  close_acknowledged();
}

void DescriptorPoll::dispatch(PollMask mask) {
  const bool spurious =
      mask == PollMask::Readable && socket_ && !has_something_to_read(descriptor());
  if (!spurious) ready(mask);
}

// --- DescriptorPolls ---

DescriptorPoll* DescriptorPolls::armed(int descriptor) const {
  const auto found = armed_.find(descriptor);
  return found != armed_.end() ? found->second : nullptr;
}

Instant DescriptorPolls::check_some(Instant wake_by) {
  if (armed_.empty()) return wake_by;
  const std::size_t count = std::min(kChecksPerTurn, armed_.size());
  for (std::size_t i = 0; i < count; ++i) {
    auto next = armed_.upper_bound(last_checked_);
    if (next == armed_.end()) next = armed_.begin();
    last_checked_ = next->first;
    DescriptorPoll& poll = *next->second;
    if (poll.same_file()) continue;
    before_report();
    poll.ready(PollMask::Disconnect);
    return now();
  }
  const bool all = count == armed_.size();
  return std::min(wake_by, now() + (all ? kCheckInterval : kCheckIntervalOfMany));
}

}  // namespace fermata::os
