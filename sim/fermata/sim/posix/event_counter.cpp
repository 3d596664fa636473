// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/event_counter.hpp"

#include <cstring>
#include <utility>

#include "fermata/base/assert.hpp"

namespace fermata::sim::detail {

ssize_t EventCounter::read(std::span<const iovec> target) {
  if (size_of(target) < sizeof count_) return -EINVAL;
  if (count_ == 0) return -EAGAIN;
  const std::uint64_t taken = as_semaphore_ ? 1 : count_;
  FERMATA_ASSERT(taken <= count_);
  count_ -= taken;
  scatter(std::as_bytes(std::span(&taken, 1)), target);
  changed();
  return sizeof taken;
}

ssize_t EventCounter::write(std::span<const iovec> source) {
  const std::vector<std::byte> bytes = gather(source);
  std::uint64_t added = 0;
  if (bytes.size() < sizeof added) return -EINVAL;
  std::memcpy(&added, bytes.data(), sizeof added);
  if (added == UINT64_MAX) return -EINVAL;
  if (added > kMost - count_) return -EAGAIN;
  count_ += added;
  changed();
  return sizeof added;
}

Readiness EventCounter::readiness() {
  Readiness ready = 0;
  if (count_ > 0) ready |= EPOLLIN;
  if (count_ < kMost) ready |= EPOLLOUT;
  return ready;
}

}  // namespace fermata::sim::detail
