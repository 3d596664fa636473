// SPDX-License-Identifier: Apache-2.0
#include "fermata/runtime/io/thread_channel_core.hpp"

#include "fermata/runtime/base/error.hpp"

namespace fermata::detail {

namespace {

[[noreturn]] void throw_closed() { throw ThreadChannelError("ThreadChannel is closed"); }

}  // namespace

ThreadChannelCore::ThreadChannelCore(std::size_t capacity) : capacity_(capacity) {
  FERMATA_REQUIRE(capacity > 0, "ThreadChannel: expected a capacity of at least 1, got 0");
}

void ThreadChannelCore::close() noexcept {
  const Lock held = lock();
  if (closed_) return;
  closed_ = true;
  senders_.fail_all();
  if (size_ == 0) receivers_.fail_waiting();
}

bool ThreadChannelCore::closed() const {
  const Lock held = lock();
  return closed_;
}

std::size_t ThreadChannelCore::size() const {
  const Lock held = lock();
  return size_;
}

bool ThreadChannelCore::has_slot() const {
  if (closed_) throw_closed();
  return size_ + senders_.granted() < capacity_;
}

bool ThreadChannelCore::has_value() const {
  if (closed_ && size_ == 0) throw_closed();
  return size_ > receivers_.granted();
}

void ThreadChannelCore::await_slot(Lock& held, const WaitOptions& options,
                                   const SourcePlace& place) {
  if (!has_slot()) await(held, senders_, "ThreadChannel send", options, place);
}

void ThreadChannelCore::await_value(Lock& held, const WaitOptions& options,
                                    const SourcePlace& place) {
  if (!has_value()) await(held, receivers_, "ThreadChannel recv", options, place);
}

void ThreadChannelCore::await(Lock& held, ThreadLine& line, const char* what,
                              const WaitOptions& options, const SourcePlace& place) {
  try {
    if (line.wait(held, what, options, place) == ThreadLine::Turn::Failed) throw_closed();
  } catch (...) {
    keep_promises();
    throw;
  }
}

void ThreadChannelCore::stored() noexcept {
  ++size_;
  keep_promises();
}

void ThreadChannelCore::taken() noexcept {
  --size_;
  keep_promises();
  if (closed_ && size_ == 0) receivers_.fail_waiting();
}

void ThreadChannelCore::keep_promises() noexcept {
  while (receivers_.waiting() > 0 && size_ > receivers_.granted()) receivers_.grant();
  while (!closed_ && senders_.waiting() > 0 && size_ + senders_.granted() < capacity_) {
    senders_.grant();
  }
}

}  // namespace fermata::detail
