// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/event_counter.hpp"

#include <fcntl.h>

#include <cstring>
#include <utility>

#include "fermata/base/assert.hpp"

namespace fermata::sim::detail {

EventCounter::EventCounter(Machine& machine, std::uint64_t serial, unsigned count,
                           bool as_semaphore) noexcept
    : Description(machine, "eventfd", serial), count_(count), as_semaphore_(as_semaphore) {
  status = O_RDWR;
}

ssize_t EventCounter::read(std::span<const iovec> target) {
  if (target.empty()) return 0;
  if (size_of(target) < sizeof count_) return -EINVAL;
  if (count_ == 0) return -EAGAIN;
  const std::uint64_t taken = as_semaphore_ ? 1 : count_;
  FERMATA_ASSERT(taken <= count_);
  count_ -= taken;
  scatter(std::as_bytes(std::span(&taken, 1)), target);
  changed(EPOLLOUT);
  return sizeof taken;
}

ssize_t EventCounter::write(std::span<const iovec> source) {
  ssize_t written = 0;
  for (const iovec& each : source) {
    const ssize_t result = add(each);
    if (result < 0) return written > 0 ? written : result;
    written += result;
  }
  return written;
}

ssize_t EventCounter::add(const iovec& number) {
  std::uint64_t added = 0;
  if (number.iov_len != sizeof added) return -EINVAL;
  std::memcpy(&added, number.iov_base, sizeof added);
  if (added == UINT64_MAX) return -EINVAL;
  if (added > kMost - count_) return -EAGAIN;
  count_ += added;
  changed(EPOLLIN);
  return sizeof added;
}

Readiness EventCounter::readiness() {
  Readiness ready = 0;
  if (count_ > 0) ready |= EPOLLIN;
  if (count_ < kMost) ready |= EPOLLOUT;
  return ready;
}

}  // namespace fermata::sim::detail
