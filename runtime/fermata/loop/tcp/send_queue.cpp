// SPDX-License-Identifier: Apache-2.0
#include "fermata/loop/tcp/send_queue.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"

namespace fermata::loop {

void WaterMarks::check() const {
  if (low >= high) {
    throw UsageError(fmt::format(
        "water marks: low {}, high {}: expected the low one below the high one", low, high));
  }
}

SendQueue::Edge SendQueue::push(std::string_view bytes) {
  if (!chunks_.empty() && chunks_.back().size() + bytes.size() <= kChunk) {
    chunks_.back() += bytes;
  } else {
    std::string& chunk = chunks_.emplace_back();
    chunk.reserve(std::max(bytes.size(), std::min(kChunk, marks_.high)));
    chunk += bytes;
  }
  waiting_ += bytes.size();
  if (full_ || !at_limit()) return Edge::None;
  full_ = true;
  return Edge::Full;
}

std::span<const std::span<const std::byte>> SendQueue::front(std::size_t most) {
  front_.clear();
  std::size_t bytes = 0;
  for (const std::string& chunk : chunks_) {
    if (bytes > 0 && bytes + chunk.size() > most) break;
    bytes += chunk.size();
    front_.push_back(std::as_bytes(std::span(chunk)));
  }
  return front_;
}

void SendQueue::take_front() {
  for (std::size_t left = front_.size(); left > 0; --left) {
    FERMATA_ASSERT(!chunks_.empty() && chunks_.front().size() <= waiting_);
    waiting_ -= chunks_.front().size();
    in_flight_ += chunks_.front().size();
    chunks_.pop_front();
  }
  front_.clear();
}

SendQueue::Edge SendQueue::written() {
  in_flight_ = 0;
  if (!full_ || size() > marks_.low) return Edge::None;
  full_ = false;
  return Edge::Drained;
}

void SendQueue::clear() noexcept {
  chunks_.clear();
  front_.clear();
  waiting_ = in_flight_ = 0;
  full_ = false;
}

}  // namespace fermata::loop
