// SPDX-License-Identifier: Apache-2.0
#include "fermata/os/descriptor_polls.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/os/clock.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::os {

namespace {

constexpr std::size_t kChecksAtOnce = 8;
constexpr Duration kCheckPause = std::chrono::milliseconds(10);
constexpr Duration kCheckInterval = std::chrono::seconds(1);
constexpr Duration kCheckIntervalOfMany = std::chrono::milliseconds(100);

/// A socket may be reported readable and have nothing, for instance after a bad checksum. Whether
/// it has something is not known either when the look is interrupted: it is reported again.
bool has_something_to_read(int socket) {
  char byte = 0;
  const ssize_t size = kernel.recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return size >= 0 || (errno != EAGAIN && errno != EINTR);
}

}  // namespace

// --- DescriptorPoll ---

DescriptorPoll::DescriptorPoll(DescriptorPolls& polls, int descriptor)
    : backend::Poll(polls, descriptor), polls_(polls) {
  struct stat status = {};
  if (kernel.fstat(descriptor, &status) != 0) {
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
  return kernel.fstat(descriptor(), &status) == 0 &&
         file_ == FileIdentity{status.st_dev, status.st_ino};
}

void DescriptorPoll::arm_mask(PollMask mask) {
  FERMATA_ASSERT(any(mask));
  if (!watch_again(mask)) {
    require_same_file();
    watch(mask);
  }
  polls_.set_armed(descriptor(), this);
}

void DescriptorPoll::disarm_mask() noexcept {
  unwatch();
  polls_.set_armed(descriptor(), nullptr);
}

void DescriptorPoll::close_backend() noexcept {
  if (closes_descriptor() && same_file()) kernel.close(descriptor());
  close_acknowledged();
}

// Another thread may give the number to another file at any time: what was seen counts when it is
// the same one afterwards.
void DescriptorPoll::dispatch(PollMask told) {
  const PollMask mask = look(told);
  const bool spurious = mask == PollMask::Readable && socket_ && !may_be_spurious() &&
                        !has_something_to_read(descriptor());
  const bool tells = any(mask) && !spurious;
  if (!(tells && proxies_ask_for_file()) && !same_file()) return ready(PollMask::Disconnect);
  if (tells) ready(mask);
}

// --- DescriptorPolls ---

DescriptorPoll* DescriptorPolls::armed(int descriptor) const noexcept {
  const auto index = static_cast<std::size_t>(descriptor);
  return index < armed_.size() ? armed_[index] : nullptr;
}

void DescriptorPolls::set_armed(int descriptor, DescriptorPoll* poll) {
  FERMATA_ASSERT(descriptor >= 0);
  const auto index = static_cast<std::size_t>(descriptor);
  if (index >= armed_.size()) armed_.resize(index + 1);
  if (armed_[index] != nullptr) {
    FERMATA_ASSERT(armed_count_ > 0);
    --armed_count_;
  }
  if (poll != nullptr) ++armed_count_;
  armed_[index] = poll;
}

DescriptorPoll& DescriptorPolls::next_to_check() noexcept {
  FERMATA_ASSERT(armed_count_ > 0);
  do {
    last_checked_ = last_checked_ + 1 < armed_.size() ? last_checked_ + 1 : 0;
  } while (armed_[last_checked_] == nullptr);
  return *armed_[last_checked_];
}

Instant DescriptorPolls::check_some(Instant wake_by) {
  if (armed_count_ == 0) return wake_by;
  const Instant at = now();
  if (at < next_check_) return std::min(wake_by, next_check_);
  const std::size_t count = std::min(kChecksAtOnce, armed_count_);
  for (std::size_t i = 0; i < count; ++i) {
    DescriptorPoll& poll = next_to_check();
    if (poll.same_file()) continue;
    before_report();
    poll.ready(PollMask::Disconnect);
    return at;
  }
  next_check_ = at + kCheckPause;
  return std::min(wake_by, at + (count == armed_count_ ? kCheckInterval : kCheckIntervalOfMany));
}

}  // namespace fermata::os
