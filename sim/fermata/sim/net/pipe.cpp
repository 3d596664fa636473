// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/net/pipe.hpp"

#include <algorithm>
#include <utility>

#include "fermata/base/inlining.hpp"

namespace fermata::sim::detail {

FERMATA_HOT bool Pipe::push(Segment segment) {
  if (reset_sent_) return false;
  segment.arrival = std::max(segment.arrival, last_arrival_);
  last_arrival_ = segment.arrival;
  segments_.push_back(segment);
  return true;
}

bool Pipe::send(std::span<const std::byte> bytes, Instant arrival) {
  FERMATA_ASSERT(bytes.size() <= room());
  if (!push({arrival, static_cast<std::uint32_t>(bytes.size()), Kind::Bytes})) return false;
  const std::size_t before = bytes_.size();
  bytes_.resize(before + bytes.size(), boost::container::default_init);
  std::copy(bytes.begin(), bytes.end(), bytes_.data() + before);
  return true;
}

bool Pipe::send_end(Instant arrival) {
  return !std::exchange(end_sent_, true) && push({arrival, 0, Kind::End});
}

bool Pipe::send_reset(Instant arrival) {
  const bool sent = push({arrival, 0, Kind::Reset});
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
  forget_arrived();
  const auto is_end = [](const Segment& segment) { return segment.kind == Kind::End; };
  segments_.erase(std::remove_if(segments_.begin(), segments_.end(), is_end), segments_.end());
  for (auto segment = segments_.rbegin(); segment != segments_.rend(); ++segment) {
    const std::size_t part = std::min<std::size_t>(lost, segment->size);
    segment->size -= static_cast<std::uint32_t>(part);
    lost -= part;
  }
}

void Pipe::arrive_due(Instant now) {
  FERMATA_ASSERT(next_arrival() <= now);
  do {
    const Segment& segment = segments_[first_];
    arrived_ += segment.size;
    ended_ = ended_ || segment.kind == Kind::End;
    broken_ = broken_ || segment.kind == Kind::Reset;
  } while (++first_ < segments_.size() && segments_[first_].arrival <= now);
  FERMATA_ASSERT(arrived_ <= bytes_.size());
  if (first_ == segments_.size()) {
    segments_.clear();
    first_ = 0;
  } else if (first_ > segments_.size() / 2) {
    forget_arrived();
  }
}

void Pipe::forget_arrived() noexcept {
  FERMATA_ASSERT(first_ <= segments_.size());
  segments_.erase(segments_.begin(), segments_.begin() + static_cast<std::ptrdiff_t>(first_));
  first_ = 0;
}

void Pipe::drop_last(std::size_t bytes) noexcept {
  FERMATA_ASSERT(bytes <= unread());
  cut_out(arrived_ - bytes, bytes);
  arrived_ -= bytes;
}

void Pipe::forget_read() noexcept {
  FERMATA_ASSERT(read_ <= arrived_);
  cut_out(0, read_);
  arrived_ -= std::exchange(read_, 0);
}

void Pipe::cut_out(std::size_t at, std::size_t bytes) noexcept {
  const std::size_t left = bytes_.size() - bytes;
  FERMATA_ASSERT(at <= left);
  std::byte* const to = bytes_.data() + at;
  std::copy(to + bytes, bytes_.data() + bytes_.size(), to);
  bytes_.resize(left, boost::container::default_init);
}

}  // namespace fermata::sim::detail
