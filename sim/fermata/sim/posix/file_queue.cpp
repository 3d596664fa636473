// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/file_queue.hpp"

#include <algorithm>

#include "fermata/base/assert.hpp"

namespace fermata::sim::detail {

Readiness FileQueue::readiness() {
  Readiness ready = 0;
  if (!results_.empty() || closed_) ready |= EPOLLIN;
  if (going_on_ == 0) ready |= EPOLLOUT;
  return ready;
}

void FileQueue::begin() noexcept { ++going_on_; }

void FileQueue::end(const io_event& result) {
  FERMATA_ASSERT(going_on_ > 0);
  --going_on_;
  if (!closed_) results_.push_back(result);
  changed();
}

std::size_t FileQueue::fetch(std::span<io_event> room) {
  const std::size_t count = std::min(room.size(), results_.size());
  std::copy_n(results_.begin(), count, room.begin());
  results_.erase(results_.begin(), results_.begin() + static_cast<std::ptrdiff_t>(count));
  return count;
}

void FileQueue::close() {
  FERMATA_ASSERT(!closed_);
  closed_ = true;
  results_.clear();
  changed();
}

}  // namespace fermata::sim::detail
