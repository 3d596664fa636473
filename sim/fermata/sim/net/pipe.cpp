// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/net/pipe.hpp"

#include <algorithm>
#include <utility>

namespace fermata::sim::detail {

bool Pipe::send(std::span<const std::byte> bytes, Instant arrival) {
  FERMATA_ASSERT(bytes.size() <= room());
  if (!push({arrival, Kind::Bytes, bytes.size()})) return false;
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  return true;
}

bool Pipe::send_end(Instant arrival) {
  return !std::exchange(end_sent_, true) && push({arrival, Kind::End, 0});
}

bool Pipe::send_reset(Instant arrival) {
  const bool sent = push({arrival, Kind::Reset, 0});
  reset_sent_ = true;
  return sent;
}

void Pipe::lose_unsent() {
  const std::size_t kept = read_ + receiver_buffer_;
  if (bytes_.size() <= kept) return;
  std::size_t lost = bytes_.size() - kept;
  bytes_.resize(kept);
  arrived_ = std::min(arrived_, kept);
  FERMATA_ASSERT(read_ <= arrived_);
  ended_ = false;
  std::erase_if(under_way_, [](const Segment& segment) { return segment.kind == Kind::End; });
  for (auto segment = under_way_.rbegin(); segment != under_way_.rend(); ++segment) {
    const std::size_t part = std::min(lost, segment->size);
    segment->size -= part;
    lost -= part;
  }
}

bool Pipe::push(Segment segment) {
  if (reset_sent_) return false;
  segment.arrival = std::max(segment.arrival, last_arrival_);
  last_arrival_ = segment.arrival;
  under_way_.push_back(segment);
  return true;
}

void Pipe::arrive_first() {
  FERMATA_ASSERT(!under_way_.empty());
  const Segment& segment = under_way_.front();
  arrived_ += segment.size;
  FERMATA_ASSERT(arrived_ <= bytes_.size());
  ended_ = ended_ || segment.kind == Kind::End;
  broken_ = broken_ || segment.kind == Kind::Reset;
  under_way_.pop_front();
}

void Pipe::drop_last(std::size_t bytes) noexcept {
  FERMATA_ASSERT(bytes <= unread());
  const auto end = bytes_.begin() + static_cast<std::ptrdiff_t>(arrived_);
  bytes_.erase(end - static_cast<std::ptrdiff_t>(bytes), end);
  arrived_ -= bytes;
}

void Pipe::consume(std::size_t bytes) noexcept {
  FERMATA_ASSERT(bytes <= unread());
  read_ += bytes;
  if (read_ <= bytes_.size() / 2) return;
  bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(read_));
  arrived_ -= std::exchange(read_, 0);
}

}  // namespace fermata::sim::detail
